// SPDX-License-Identifier: Apache-2.0
// Keys that are absent mean what they mean to llama.cpp: texts of "llama" begin with BOS and a
// space, its first tokens are <unk>, <s> and </s>; texts of "gpt2" begin with BOS where the named
// pre-tokenizer is of a family whose texts do.
#include "frontends/gguf/Tokenizer.h"

#include <cmath>

namespace llmc::gguf {

using model::AddedToken;
using model::Merge;
using model::Token;
using model::TokenizerKind;
using model::TokenizerSpec;
using model::TokenType;

namespace {

std::string key(const char *suffix) { return std::string("tokenizer.ggml.") + suffix; }

std::string text(size_t number) { return std::to_string(number); }

class TokenizerReader {
public:
  explicit TokenizerReader(const Container &container) : container(container) {}

  Result<std::optional<TokenizerSpec>> read();

private:
  Error wrong(const KeyValue &entry, const std::string &expected) const {
    return container.errorAtKey(entry.key, "found " + container.describe(entry.value) +
                                               ", expected " + expected);
  }
  // Leaves `out` alone when there is no such key.
  Status readString(const std::string &name, std::string &out) const;
  Status readBoolean(const char *suffix, bool &out) const;
  Status readId(const char *suffix, int32_t &out) const;
  // Null when absent; a list of strings, or of `element`, with one for each token.
  Result<const Value *> stringList(const char *suffix) const;
  Result<const Value *> listOfTokens(const char *suffix, ValueType element) const;

  Status readTokens();
  Status readTypes();
  Status readScores();
  Status readKind(const std::string &kind);
  void addTokens();
  void readBytes();
  Status indexTexts();
  Status readMerges();
  Result<Merge> merge(std::string_view pair, size_t index) const;
  Status readSpecials();
  Status readTemplates();

  const Container &container;
  TokenizerSpec spec;
  std::vector<std::string_view> texts; // of each token, as stored
  std::unordered_map<std::string_view, int32_t> idOfText;
  bool addBos = false, addEos = false;
};

Status TokenizerReader::readString(const std::string &name, std::string &out) const {
  const KeyValue *entry = container.find(name);
  if (!entry)
    return {};
  if (entry->value.type != ValueType::String)
    return wrong(*entry, "a string");
  out = std::string(container.text(entry->value));
  return {};
}

Status TokenizerReader::readBoolean(const char *suffix, bool &out) const {
  const KeyValue *entry = container.find(key(suffix));
  if (!entry)
    return {};
  if (entry->value.type != ValueType::Bool)
    return wrong(*entry, "true or false");
  out = container.boolean(entry->value);
  return {};
}

Status TokenizerReader::readId(const char *suffix, int32_t &out) const {
  const KeyValue *entry = container.find(key(suffix));
  if (!entry)
    return {};
  std::optional<int64_t> id =
      entry->value.type == ValueType::Array ? std::nullopt : container.integer(entry->value);
  if (!id || *id < 0 || *id >= static_cast<int64_t>(texts.size()))
    return wrong(*entry, "an id from 0 to " + text(texts.size() - 1));
  out = static_cast<int32_t>(*id);
  return {};
}

Result<const Value *> TokenizerReader::stringList(const char *suffix) const {
  const KeyValue *entry = container.find(key(suffix));
  if (!entry)
    return nullptr;
  if (entry->value.type != ValueType::Array || entry->value.element != ValueType::String)
    return wrong(*entry, "a list of strings");
  return &entry->value;
}

Result<const Value *> TokenizerReader::listOfTokens(const char *suffix, ValueType element) const {
  const KeyValue *entry = container.find(key(suffix));
  if (!entry)
    return nullptr;
  const Value &value = entry->value;
  if (value.type != ValueType::Array || value.element != element || value.count != texts.size())
    return wrong(*entry, "a list of " + text(texts.size()) + " " + name(element) +
                             ", one for each of tokenizer.ggml.tokens");
  return &value;
}

Status TokenizerReader::readTokens() {
  Result<const Value *> list = stringList("tokens");
  if (!list)
    return list.takeError();
  if (!*list || (*list)->count == 0 || (*list)->count > INT32_MAX / 2)
    return container.errorAtKey(key("tokens"), "found " + text(*list ? (*list)->count : 0) +
                                                   " tokens, expected 1 to " + text(INT32_MAX / 2));
  texts = container.texts(**list);
  spec.tokens.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i].size() > static_cast<size_t>(model::maxTokenBytes))
      return container.errorAtKey(key("tokens"),
                                  "found token " + text(i) + " of " + text(texts[i].size()) +
                                      " bytes, expected at most " + text(model::maxTokenBytes));
  return {};
}

// Stored from 1 on, in the order of TokenType.
Status TokenizerReader::readTypes() {
  Result<const Value *> list = listOfTokens("token_type", ValueType::I32);
  if (!list)
    return list.takeError();
  for (size_t i = 0; *list && i < texts.size(); ++i) {
    int64_t type = *container.integer(**list, i);
    if (type < 1 || type > 6)
      return container.errorAtKey(key("token_type"), "found type " + std::to_string(type) +
                                                         " of token " + text(i) +
                                                         ", expected 1 to 6");
    spec.tokens[i].type = static_cast<TokenType>(type - 1);
  }
  return {};
}

Status TokenizerReader::readScores() {
  Result<const Value *> list = listOfTokens("scores", ValueType::F32);
  if (!list)
    return list.takeError();
  if (!*list && spec.kind == TokenizerKind::Characters)
    return container.errorAtKey(key("scores"),
                                "found no such key, expected the order of merges of \"llama\"");
  for (size_t i = 0; *list && i < texts.size(); ++i) {
    double score = *container.number(**list, i);
    if (!std::isfinite(score))
      return container.errorAtKey(key("scores"), "found a score of token " + text(i) +
                                                     " that is no number, expected a finite one");
    spec.tokens[i].score = static_cast<float>(score);
  }
  return {};
}

Status TokenizerReader::readKind(const std::string &kind) {
  if (kind == "llama") {
    bool spacePrefix = true, trims = false;
    if (Status status = readBoolean("add_space_prefix", spacePrefix); !status)
      return status;
    if (Status status = readBoolean("remove_extra_whitespaces", trims); !status)
      return status;
    if (trims)
      return container.errorAtKey(key("remove_extra_whitespaces"),
                                  "found true, expected false: \"llama\" keeps them");
    applySentencePieceSteps(spec, spacePrefix);
    addBos = true;
    return {};
  }
  std::string pre;
  if (Status status = readString(key("pre"), pre); !status)
    return status;
  if (!applyNamedPreTokenizer(pre, spec))
    return container.errorAtKey(key("pre"), (pre.empty() ? std::string("found no name")
                                                         : "found \"" + escaped(pre, 80) + "\"") +
                                                ", expected one of " + model::namedPreTokenizers());
  applyByteLevelDecoder(spec);
  // Llama 3's and Mistral's: words that are tokens stay whole, and texts begin with BOS.
  addBos = spec.ignoreMerges;
  return {};
}

// Control tokens are found only where asked for, tokens that users defined everywhere.
void TokenizerReader::addTokens() {
  for (size_t i = 0; i < texts.size(); ++i) {
    TokenType type = spec.tokens[i].type;
    if ((type != TokenType::Control && type != TokenType::UserDefined) || texts[i].empty())
      continue;
    AddedToken added;
    added.id = static_cast<int32_t>(i);
    added.content = std::string(texts[i]);
    added.special = type == TokenType::Control;
    spec.addedTokens.push_back(std::move(added));
  }
}

// What tokens stand for, and whether words may hold them.
void TokenizerReader::readBytes() {
  bool byteLevel = spec.kind == TokenizerKind::ByteLevel;
  for (size_t i = 0; i < texts.size(); ++i) {
    Token &token = spec.tokens[i];
    token.bytes = std::string(texts[i]);
    bool ofWords = token.type == TokenType::Normal || token.type == TokenType::Byte ||
                   (token.type == TokenType::UserDefined && !byteLevel);
    if (byteLevel && ofWords)
      ofWords = model::fromByteAlphabet(texts[i], token.bytes);
    token.inModel = ofWords && !texts[i].empty();
  }
}

Status TokenizerReader::indexTexts() {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) // a hole
      continue;
    auto [known, isNew] = idOfText.emplace(texts[i], static_cast<int32_t>(i));
    if (!isNew)
      return container.errorAtKey(key("tokens"), "found \"" + escaped(texts[i], 80) +
                                                     "\" as token " + text(i) + " and as token " +
                                                     std::to_string(known->second) +
                                                     ", expected each text once");
  }
  return {};
}

// Two tokens, parted by the first space after the first byte.
Result<Merge> TokenizerReader::merge(std::string_view pair, size_t index) const {
  size_t space = pair.find(' ', 1);
  std::string place = "merge " + text(index) + ", \"" + escaped(pair, 80) + "\"";
  if (space == std::string_view::npos)
    return container.errorAtKey(key("merges"),
                                "found " + place + ", expected two tokens with a space between");
  std::string joined(pair.substr(0, space));
  joined += pair.substr(space + 1);
  auto left = idOfText.find(pair.substr(0, space)), right = idOfText.find(pair.substr(space + 1)),
       result = idOfText.find(joined);
  if (left == idOfText.end() || right == idOfText.end() || result == idOfText.end())
    return container.errorAtKey(key("merges"), "found " + place +
                                                   ", expected its parts and their joined text "
                                                   "among tokenizer.ggml.tokens");
  return Merge{left->second, right->second, result->second};
}

Status TokenizerReader::readMerges() {
  if (spec.kind == TokenizerKind::Characters) // scores say the order
    return {};
  Result<const Value *> list = stringList("merges");
  if (!list)
    return list.takeError();
  if (!*list)
    return container.errorAtKey(key("merges"),
                                "found no such key, expected the merges of \"gpt2\"");
  std::vector<std::string_view> pairs = container.texts(**list);
  spec.merges.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    Result<Merge> read = merge(pairs[i], i);
    if (!read)
      return read.takeError();
    spec.merges.push_back(*read);
  }
  return {};
}

Status TokenizerReader::readSpecials() {
  struct Row {
    const char *suffix;
    int32_t &id;
  };
  if (spec.kind == TokenizerKind::Characters && texts.size() > 2) {
    spec.unkId = 0; // <unk>, <s>, </s>
    spec.bosId = 1;
    spec.eosId = 2;
  }
  for (const Row &row : {Row{"bos_token_id", spec.bosId}, Row{"eos_token_id", spec.eosId},
                         Row{"unknown_token_id", spec.unkId}, Row{"padding_token_id", spec.padId}})
    if (Status status = readId(row.suffix, row.id); !status)
      return status;
  if (Status status = readBoolean("add_bos_token", addBos); !status)
    return status;
  if (Status status = readBoolean("add_eos_token", addEos); !status)
    return status;
  if (addBos && spec.bosId >= 0)
    spec.prefix.push_back(spec.bosId);
  if (addEos && spec.eosId >= 0)
    spec.suffix.push_back(spec.eosId);
  return {};
}

// "tokenizer.chat_template" is the default; others have their name behind a dot.
Status TokenizerReader::readTemplates() {
  const std::string prefix = "tokenizer.chat_template";
  for (const KeyValue &entry : container.keys()) {
    bool isDefault = entry.key == prefix;
    if (!isDefault && entry.key.compare(0, prefix.size() + 1, prefix + ".") != 0)
      continue;
    if (entry.value.type != ValueType::String)
      return wrong(entry, "a string");
    std::string_view source = container.text(entry.value);
    if (source.size() > static_cast<size_t>(model::maxTemplateBytes))
      return container.errorAtKey(entry.key, "found " + text(source.size()) +
                                                 " bytes, expected at most " +
                                                 text(model::maxTemplateBytes));
    std::string name = isDefault ? "default" : entry.key.substr(prefix.size() + 1);
    spec.chatTemplates.insert(isDefault ? spec.chatTemplates.begin() : spec.chatTemplates.end(),
                              {std::move(name), std::string(source)});
  }
  return {};
}

Result<std::optional<TokenizerSpec>> TokenizerReader::read() {
  std::string kind = "none";
  if (Status status = readString(key("model"), kind); !status)
    return status.takeError();
  if (kind == "none" || kind == "no_vocab")
    return std::optional<TokenizerSpec>();
  if (kind != "gpt2" && kind != "llama")
    return container.errorAtKey(key("model"), "found \"" + escaped(kind, 80) +
                                                  "\", expected \"gpt2\" or \"llama\"");
  if (Status status = readKind(kind); !status)
    return status.takeError();
  using Step = Status (TokenizerReader::*)();
  for (Step step :
       {&TokenizerReader::readTokens, &TokenizerReader::readTypes, &TokenizerReader::readScores,
        &TokenizerReader::indexTexts, &TokenizerReader::readMerges, &TokenizerReader::readSpecials,
        &TokenizerReader::readTemplates})
    if (Status status = (this->*step)(); !status)
      return status.takeError();
  readBytes();
  addTokens();
  if (Status status = validate(spec, container.path(), "tokenizer"); !status)
    return status.takeError();
  return std::optional<TokenizerSpec>(std::move(spec));
}

} // namespace

Result<std::optional<TokenizerSpec>> readTokenizer(const Container &container) {
  return TokenizerReader(container).read();
}

} // namespace llmc::gguf
