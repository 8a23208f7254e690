// SPDX-License-Identifier: Apache-2.0
// tokenizer_config.json is transformers' own and holds much that tokenizer.json says already, so
// only the keys below are read from it; the rest does not change what tokenizer.json gives.
#include "frontends/text/TokenizerFolder.h"
#include "frontends/json/KeyTable.h"
#include "frontends/text/TokenizerJson.h"

#include <algorithm>
#include <dirent.h>
#include <sys/stat.h>

namespace llmc::tokenizers {

using json::Place;
using json::Value;
using model::TokenizerSpec;

namespace {

constexpr uint64_t kMaxTokenizerBytes = uint64_t(1) << 30;
constexpr uint64_t kMaxConfigBytes = uint64_t(64) << 20;

bool exists(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0;
}

class ConfigReader {
public:
  ConfigReader(const Value &root, const std::string &file, TokenizerSpec &spec)
      : root(root), place{file, ""}, spec(spec) {}
  Status read();

private:
  Status readSpecial(const char *key, int32_t &id);
  Status readAddFlags();
  Status readTemplates();
  int32_t idOf(const std::string &text) const;

  const Value &root;
  const Place place;
  TokenizerSpec &spec;
};

int32_t ConfigReader::idOf(const std::string &text) const {
  for (const model::AddedToken &token : spec.addedTokens)
    if (token.content == text)
      return token.id;
  std::string bytes = text;
  if (spec.kind == model::TokenizerKind::ByteLevel)
    model::fromByteAlphabet(text, bytes);
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.tokens[id].inModel && spec.tokens[id].bytes == bytes)
      return static_cast<int32_t>(id);
  return -1;
}

// "bos_token": a text, or an object with its content; null or a token that does not exist: none.
Status ConfigReader::readSpecial(const char *key, int32_t &id) {
  const Value *value = root.find(key);
  if (!value || value->is(Value::Kind::Null))
    return {};
  const Value *content = value->is(Value::Kind::Object) ? value->find("content") : value;
  if (!content || !content->is(Value::Kind::String))
    return json::wrongValue(place.at(key), *value, "a token's text, or an object with its content");
  id = idOf(content->text());
  return {};
}

// Classes of the Llama family make their own template of BOS and EOS from these two keys.
Status ConfigReader::readAddFlags() {
  const Value *type = root.find("tokenizer_class");
  const bool obeys = type && type->is(Value::Kind::String) &&
                     (type->text().compare(0, 14, "LlamaTokenizer") == 0 ||
                      type->text().compare(0, 14, "GemmaTokenizer") == 0);
  const struct {
    const char *key;
    std::vector<int32_t> &ids;
    int32_t id;
  } sides[] = {{"add_bos_token", spec.prefix, spec.bosId},
               {"add_eos_token", spec.suffix, spec.eosId}};
  for (const auto &side : sides) {
    const Value *value = root.find(side.key);
    if (!obeys || !value || value->is(Value::Kind::Null))
      continue;
    bool wanted = false;
    if (Status status = json::read(*value, place.at(side.key), wanted); !status)
      return status;
    if (wanted && side.id < 0)
      return place.at(side.key).error("found true without such a token, expected its name in "
                                      "bos_token or eos_token");
    side.ids.clear();
    if (wanted)
      side.ids.push_back(side.id);
  }
  return {};
}

Status addTemplate(TokenizerSpec &spec, const std::string &name, std::string text,
                   const Place &place) {
  if (text.size() > static_cast<size_t>(model::maxTemplateBytes))
    return place.error("found a template of " + std::to_string(text.size()) +
                       " bytes, expected at most " + std::to_string(model::maxTemplateBytes));
  for (model::ChatTemplate &item : spec.chatTemplates)
    if (item.name == name) { // a file of its own comes last and holds
      item.text = std::move(text);
      return {};
    }
  auto where = name == "default" ? spec.chatTemplates.begin() : spec.chatTemplates.end();
  spec.chatTemplates.insert(where, {name, std::move(text)});
  return {};
}

// One text, or a list of {name, template}.
Status ConfigReader::readTemplates() {
  const Value *value = root.find("chat_template");
  const Place at = place.at("chat_template");
  if (!value || value->is(Value::Kind::Null))
    return {};
  if (value->is(Value::Kind::String))
    return addTemplate(spec, "default", value->text(), at);
  if (!value->is(Value::Kind::Array))
    return json::wrongValue(at, *value, "a template, or a list of named ones");
  for (size_t i = 0; i < value->size(); ++i) {
    const Value *name = (*value)[i].find("name");
    const Value *text = (*value)[i].find("template");
    if (!name || !text || !name->is(Value::Kind::String) || !text->is(Value::Kind::String))
      return json::wrongValue(at.at(std::to_string(i)), (*value)[i],
                              "an object with \"name\" and \"template\"");
    if (Status status = addTemplate(spec, name->text(), text->text(), at); !status)
      return status;
  }
  return {};
}

Status ConfigReader::read() {
  const std::pair<const char *, int32_t *> specials[] = {{"bos_token", &spec.bosId},
                                                         {"eos_token", &spec.eosId},
                                                         {"unk_token", &spec.unkId},
                                                         {"pad_token", &spec.padId}};
  for (const auto &[key, id] : specials) {
    // Merging falls back to the model's own unknown token; the name here must not change that.
    int32_t named = *id;
    if (Status status = readSpecial(key, named); !status)
      return status;
    if (id != &spec.unkId)
      *id = named;
  }
  if (Status status = readAddFlags(); !status)
    return status;
  return readTemplates();
}

Status applyFile(const std::string &path, TokenizerSpec &spec) {
  if (!exists(path))
    return {};
  Result<std::string> text = json::readTextFile(path, kMaxConfigBytes);
  if (!text)
    return text.takeError();
  return applyTokenizerConfig(*text, path, spec);
}

Status applyTemplateFile(const std::string &path, const std::string &name, TokenizerSpec &spec) {
  if (!exists(path))
    return {};
  Result<std::string> text =
      json::readTextFile(path, static_cast<uint64_t>(model::maxTemplateBytes));
  if (!text)
    return text.takeError();
  return addTemplate(spec, name, std::move(*text), {path, ""});
}

// additional_chat_templates/NAME.jinja, by name.
Status applyTemplateFolder(const std::string &folder, TokenizerSpec &spec) {
  std::vector<std::string> names;
  const std::string ending = ".jinja";
  DIR *directory = ::opendir(folder.c_str());
  if (!directory)
    return {};
  while (const dirent *entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
      names.push_back(name.substr(0, name.size() - ending.size()));
  }
  ::closedir(directory);
  std::sort(names.begin(), names.end());
  for (const std::string &name : names)
    if (Status status = applyTemplateFile(folder + "/" + name + ending, name, spec); !status)
      return status;
  return {};
}

} // namespace

Status applyTokenizerConfig(std::string_view text, const std::string &file, TokenizerSpec &spec) {
  Result<Value> root = json::parse(text, file);
  if (!root)
    return root.takeError();
  if (!root->is(Value::Kind::Object))
    return json::wrongValue({file, ""}, *root, "an object");
  return ConfigReader(*root, file, spec).read();
}

Result<std::optional<TokenizerSpec>> readTokenizerFolder(const std::string &folder) {
  const std::string path = folder + "/tokenizer.json";
  if (!exists(path))
    return std::optional<TokenizerSpec>();
  Result<std::string> text = json::readTextFile(path, kMaxTokenizerBytes);
  if (!text)
    return text.takeError();
  Result<TokenizerSpec> spec = parseTokenizerJson(*text, path);
  if (!spec)
    return spec.takeError();
  Status status = applyFile(folder + "/special_tokens_map.json", *spec);
  if (status)
    status = applyFile(folder + "/tokenizer_config.json", *spec);
  if (status)
    status = applyFile(folder + "/chat_template.json", *spec);
  if (status)
    status = applyTemplateFile(folder + "/chat_template.jinja", "default", *spec);
  if (status)
    status = applyTemplateFolder(folder + "/additional_chat_templates", *spec);
  if (!status)
    return status.takeError();
  return std::optional<TokenizerSpec>(std::move(*spec));
}

} // namespace llmc::tokenizers
