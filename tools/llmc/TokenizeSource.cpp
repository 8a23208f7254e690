// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/TokenizeSource.h"
#include "frontends/Open.h"
#include "frontends/text/TokenizerFolder.h"
#include "llmc/chat.h"
#include "passes/codegen/tokenizer/TokenizerTables.h"
#include "runtime/engine/Model.h"
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace llmc::tool {
namespace {

bool endsWith(const std::string &text, std::string_view end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool isFile(const std::string &path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Error noTokenizer(const std::string &path) {
  return errorAt(path, "",
                 "found a model without a tokenizer, expected one; give a model that has "
                 "it (a tokenizer.json in its folder, or a GGUF file)");
}

// A folder's tokenizer needs no weights beside it.
Result<std::optional<model::TokenizerSpec>> readSpec(const std::string &path) {
  if (isFile(path + "/tokenizer.json"))
    return tokenizers::readTokenizerFolder(path);
  Result<OpenedModel> opened = openModel(path);
  if (!opened)
    return opened.takeError();
  return std::move(opened->tokenizer);
}

} // namespace

Result<std::unique_ptr<TokenizeSource>> TokenizeSource::open(const ModelOptions &model) {
  auto source = std::make_unique<TokenizeSource>();
  source->path = model.path;
  Status status =
      endsWith(model.path, ".so") ? source->openCompiled(model) : source->openSource(model.path);
  if (!status)
    return status.takeError();
  return std::move(source);
}

Status TokenizeSource::openCompiled(const ModelOptions &model) {
  Result<LoadedModel> opened = loadModel(model, nullptr);
  if (!opened)
    return opened.takeError();
  loaded = std::move(*opened);
  tokenizer = loaded.model->tokenizer;
  return tokenizer ? Status() : noTokenizer(path);
}

Status TokenizeSource::openSource(const std::string &from) {
  Result<std::optional<model::TokenizerSpec>> spec = readSpec(from);
  if (!spec)
    return spec.takeError();
  if (!*spec)
    return noTokenizer(from);
  Result<std::string> tables = tokenizer::buildTables(**spec, from);
  if (!tables)
    return tables.takeError();
  block = std::move(*tables);
  own = std::make_unique<text::Tokenizer>(allocator);
  CallError error;
  if (own->open(block.data(), block.size(), escaped(from).c_str(), error.raw()))
    return error.take();
  tokenizer = own.get();
  return {};
}

Result<std::vector<int32_t>> TokenizeSource::encode(std::string_view text, uint32_t flags) const {
  std::vector<int32_t> tokens(text.size() + 64);
  for (;;) {
    uint64_t needed = 0;
    CallError error;
    if (tokenizer->encode({text.data(), text.size()}, flags, tokens.data(), tokens.size(), needed,
                          error.raw()))
      return error.take();
    const bool fits = needed <= tokens.size();
    tokens.resize(needed);
    if (fits)
      return tokens;
  }
}

Result<std::string> TokenizeSource::decode(const std::vector<int64_t> &tokens) const {
  const int64_t count = tokenizer->tables().header->n_tokens;
  const int64_t end = std::max<int64_t>(count, loaded.info.vocabulary);
  std::vector<int32_t> ids;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= end)
      return errorAt("--decode", "id " + std::to_string(i + 1),
                     "found token id " + std::to_string(tokens[i]) + ", expected 0 to " +
                         std::to_string(end - 1));
    ids.push_back(static_cast<int32_t>(tokens[i]));
  }
  std::string text;
  text.resize(tokenizer->decode({ids.data(), ids.size()}, 0, nullptr, 0));
  tokenizer->decode({ids.data(), ids.size()}, 0, text.data(), text.size());
  return text;
}

int32_t TokenizeSource::bos() const {
  const uint32_t id = tokenizer->tables().header->bos;
  return id == text::kNone ? -1 : static_cast<int32_t>(id);
}

Result<std::string> TokenizeSource::renderChat(const std::string &variables,
                                               bool addGenerationPrompt) const {
  const text::Tables &tables = tokenizer->tables();
  llmc_chat_options options{};
  options.struct_size = sizeof options;
  options.flags = addGenerationPrompt ? LLMC_CHAT_ADD_GENERATION_PROMPT : 0;
  for (const llmc_tokenizer_template &item : tables.templates)
    if (equal(tables.string(item.name), {"default", 7})) {
      options.template_text = tables.string(item.text).data;
      options.template_bytes = item.text.bytes;
    }
  if (!options.template_text || !options.template_bytes)
    return errorAt(path, "", "found no chat template, expected one in the model's source");
  // The special tokens that a template may write out, unless the caller has others.
  auto all = nlohmann::json::parse(variables, nullptr, false);
  const struct {
    const char *name;
    uint32_t id;
  } specials[] = {{"bos_token", tables.header->bos},
                  {"eos_token", tables.header->eos},
                  {"unk_token", tables.header->unk},
                  {"pad_token", tables.header->pad}};
  for (const auto &special : specials)
    if (special.id != text::kNone && !all.contains(special.name)) {
      const text::Text text = tables.token(special.id);
      all[special.name] = std::string(text.data, text.size);
    }
  const std::string json = all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  options.variables = json.c_str();
  std::string text(4096 + 2 * json.size(), '\0');
  for (;;) {
    size_t needed = 0;
    CallError error;
    const llmc_status status = llmc_chat_render(nullptr, nullptr, 0, &options, text.data(),
                                                text.size(), &needed, error.raw());
    if (status && status != LLMC_TOO_SMALL)
      return error.take();
    text.resize(needed);
    if (!status)
      return text;
  }
}

} // namespace llmc::tool
