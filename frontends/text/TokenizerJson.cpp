// SPDX-License-Identifier: Apache-2.0
// The file's top level, the vocabulary, the merges and the added tokens.
#include "frontends/text/TokenizerJson.h"
#include "frontends/text/Fields.h"
#include "frontends/text/Steps.h"

#include <algorithm>
#include <unordered_map>

namespace llmc::tokenizers {

using json::Place;
using json::Value;
using model::TokenizerKind;
using model::TokenizerSpec;

namespace {

// Ids may have holes, but not so many that memory would leave the file's size behind.
constexpr int64_t kSpareIds = 65536;
// Lists of merges without spaces: ["a","b"], is three values.
constexpr size_t kBytesPerValue = 3;

class Reader {
public:
  Reader(const Value &root, const std::string &file) : root(root), place{file, ""} {}
  Result<TokenizerSpec> read();

private:
  Status readSteps(Fields &fields);
  Status readModel();
  Status readVocabulary(const Value &value, const Place &at);
  Status addPiece(const std::string &text, const Value &id, int64_t limit, const Place &parent,
                  const std::string &key);
  Status readMerges(const Value &value, const Place &at);
  Status addMerge(std::string_view left, std::string_view right, const Place &parent, size_t index);
  Status readAddedTokens(const Value *value);
  Status addToken(const Value &value, const Place &at);
  int64_t nextFreeId() const;
  Status checkSteps() const;
  std::string bytesOf(const std::string &text, bool &known) const;
  int32_t idOf(std::string_view text) const; // -1: no token

  const Value &root;
  const Place place;
  TokenizerSpec spec;
  std::unordered_map<std::string_view, int32_t> vocabulary; // as written in the file
  std::unordered_map<std::string, int32_t> added;           // by content
  int64_t highestAdded = -1;
};

Status Reader::readSteps(Fields &fields) {
  const Value nothing;
  auto of = [&](const char *key) {
    const Value *value = fields.find(key);
    return value ? value : &nothing;
  };
  Status status = readNormalizer(*of("normalizer"), place.at("normalizer"), spec.normalizer);
  if (status)
    status = readPreTokenizer(*of("pre_tokenizer"), place.at("pre_tokenizer"), spec.preTokenizer);
  if (status)
    status = readDecoder(*of("decoder"), place.at("decoder"), spec.decoder);
  if (status)
    status = readPostProcessor(*of("post_processor"), place.at("post_processor"), spec.prefix,
                               spec.suffix);
  return status;
}

// ByteLevel: the bytes, where GPT-2's alphabet is kept; `known` says so.
std::string Reader::bytesOf(const std::string &text, bool &known) const {
  std::string bytes;
  known = spec.kind == TokenizerKind::Characters || model::fromByteAlphabet(text, bytes);
  return known && spec.kind == TokenizerKind::ByteLevel ? bytes : text;
}

// Its place is `key` of `parent`: put together only for an error, since there are very many.
Status Reader::addPiece(const std::string &text, const Value &id, int64_t limit,
                        const Place &parent, const std::string &key) {
  if (!id.is(Value::Kind::Integer))
    return json::wrongValue(parent.at(key), id, "a token id");
  if (id.integer < 0 || id.integer >= limit)
    return parent.at(key).error("found token id " + std::to_string(id.integer) +
                                ", expected 0 to " + std::to_string(limit - 1) +
                                " in a vocabulary of this size");
  if (text.size() > static_cast<size_t>(model::maxTokenBytes))
    return parent.at(key).error("found a token of " + std::to_string(text.size()) +
                                " bytes, expected at most " + std::to_string(model::maxTokenBytes));
  if (static_cast<size_t>(id.integer) >= spec.tokens.size()) {
    model::Token hole;
    hole.type = model::TokenType::Unused;
    hole.inModel = false;
    spec.tokens.resize(static_cast<size_t>(id.integer) + 1, hole);
  }
  model::Token &token = spec.tokens[static_cast<size_t>(id.integer)];
  if (token.type != model::TokenType::Unused)
    return parent.at(key).error("found token id " + std::to_string(id.integer) +
                                " a second time, expected each token to have its own");
  token.bytes = bytesOf(text, token.inModel);
  token.type = model::TokenType::Normal;
  return {};
}

Status Reader::readVocabulary(const Value &value, const Place &at) {
  if (!value.is(Value::Kind::Object))
    return json::wrongValue(at, value, "an object from tokens to ids");
  if (value.size() == 0)
    return at.error("found an empty vocabulary, expected at least one token");
  const int64_t limit = static_cast<int64_t>(value.size()) * 2 + kSpareIds;
  if (limit > model::maxVocab)
    return at.error("found " + std::to_string(value.size()) + " tokens, expected at most " +
                    std::to_string((model::maxVocab - kSpareIds) / 2));
  vocabulary.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    if (Status status = addPiece(value.key(i), value[i], limit, at, value.key(i)); !status)
      return status;
    vocabulary.emplace(value.key(i), static_cast<int32_t>(value[i].integer));
  }
  return {};
}

int32_t Reader::idOf(std::string_view text) const {
  auto found = vocabulary.find(text);
  return found == vocabulary.end() ? -1 : found->second;
}

Status Reader::addMerge(std::string_view left, std::string_view right, const Place &parent,
                        size_t index) {
  std::string joined(left);
  joined += right;
  int32_t ids[3];
  const std::string_view texts[3] = {left, right, joined};
  for (int i = 0; i < 3; ++i) {
    ids[i] = idOf(texts[i]);
    if (ids[i] < 0)
      return parent.at(std::to_string(index))
          .error("found '" + escaped(texts[i], 60) +
                 "', which is no token, expected merges of the vocabulary's tokens only");
  }
  // ByteLevel: a token outside the alphabet is never reached by merging bytes.
  for (int32_t id : ids)
    if (!spec.tokens[static_cast<size_t>(id)].inModel)
      return {};
  spec.merges.push_back({ids[0], ids[1], ids[2]});
  return {};
}

// Each is "left right", or a list of the two.
Status Reader::readMerges(const Value &value, const Place &at) {
  if (!value.is(Value::Kind::Array))
    return json::wrongValue(at, value, "a list of merges");
  for (size_t i = 0; i < value.size(); ++i) {
    const Value &item = value[i];
    std::string_view left;
    std::string_view right;
    if (item.is(Value::Kind::String)) {
      const std::string_view both = item.text();
      const size_t space = both.find(' ');
      if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos)
        return json::wrongValue(at.at(std::to_string(i)), item,
                                "two tokens with one space between them");
      left = both.substr(0, space);
      right = both.substr(space + 1);
    } else if (item.is(Value::Kind::Array) && item.size() == 2 && item[0].is(Value::Kind::String) &&
               item[1].is(Value::Kind::String)) {
      left = item[0].text();
      right = item[1].text();
    } else {
      return json::wrongValue(at.at(std::to_string(i)), item, "two tokens");
    }
    if (Status status = addMerge(left, right, at, i); !status)
      return status;
  }
  return {};
}

Status Reader::readModel() {
  const Value *value = root.find("model");
  if (!value)
    return place.error("found no key \"model\", expected it");
  const Place at = place.at("model");
  Fields fields(*value, at);
  const std::string type = fields.text("type", "BPE");
  if (type != "BPE")
    return at.at("type").error("found \"" + escaped(type, 60) +
                               "\", expected BPE, the kind of model that llmc reads");
  for (const char *key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (const std::string text = fields.text(key); !text.empty())
      return at.at(key).error("found \"" + escaped(text, 60) + "\", expected null or nothing");
  if (const Value *dropout = fields.find("dropout"))
    if (!dropout->is(Value::Kind::Null) && !(dropout->isNumber() && dropout->number() == 0))
      return json::wrongValue(at.at("dropout"), *dropout, "null or 0");
  spec.byteFallback = fields.boolean("byte_fallback", false);
  spec.fuseUnknown = fields.boolean("fuse_unk", false);
  spec.ignoreMerges = fields.boolean("ignore_merges", false);
  const std::string unknown = fields.text("unk_token");
  const Value *pieces = fields.required("vocab");
  const Value *merges = fields.required("merges");
  if (Status status = fields.finish(); !status)
    return status;
  if (Status status = readVocabulary(*pieces, at.at("vocab")); !status)
    return status;
  if (Status status = readMerges(*merges, at.at("merges")); !status)
    return status;
  if (unknown.empty())
    return {};
  auto found = vocabulary.find(unknown);
  if (found == vocabulary.end())
    return at.at("unk_token")
        .error("found \"" + escaped(unknown, 60) + "\", expected one of the vocabulary's tokens");
  spec.unkId = found->second;
  return {};
}

// The id that the `tokenizers` library gives to an added token outside the vocabulary.
int64_t Reader::nextFreeId() const {
  const auto size = static_cast<int64_t>(vocabulary.size());
  return highestAdded >= size ? highestAdded + 1 : size;
}

Status Reader::addToken(const Value &value, const Place &at) {
  Fields fields(value, at);
  model::AddedToken token;
  fields.required("id");
  const int64_t id = fields.number("id", 0);
  token.content = fields.requiredText("content");
  token.special = fields.boolean("special", false);
  token.lstrip = fields.boolean("lstrip", false);
  token.rstrip = fields.boolean("rstrip", false);
  token.singleWord = fields.boolean("single_word", false);
  token.normalized = fields.boolean("normalized", !token.special);
  if (Status status = fields.finish(); !status)
    return status;
  if (token.content.empty())
    return at.at("content").error("found an empty text, expected at least one character");
  if (token.content.size() > static_cast<size_t>(model::maxTokenBytes))
    return at.at("content").error("found a text of " + std::to_string(token.content.size()) +
                                  " bytes, expected at most " +
                                  std::to_string(model::maxTokenBytes));
  auto inVocabulary = vocabulary.find(token.content);
  const int64_t expected = inVocabulary != vocabulary.end() ? inVocabulary->second : nextFreeId();
  if (id != expected)
    return at.at("id").error(
        "found token id " + std::to_string(id) + " for \"" + escaped(token.content, 60) +
        "\", expected " + std::to_string(expected) +
        (inVocabulary != vocabulary.end() ? ", its id in the vocabulary" : ", the next free one"));
  token.id = static_cast<int32_t>(id);
  if (!added.emplace(token.content, token.id).second)
    return at.at("content").error("found \"" + escaped(token.content, 60) +
                                  "\" a second time, expected each added token once");
  highestAdded = std::max(highestAdded, id);
  if (inVocabulary == vocabulary.end()) {
    const Value number(id);
    if (Status status = addPiece(token.content, number, id + 1, at, "id"); !status)
      return status;
    spec.tokens[static_cast<size_t>(id)].inModel = false;
  }
  spec.tokens[static_cast<size_t>(id)].type =
      token.special ? model::TokenType::Control : model::TokenType::UserDefined;
  spec.addedTokens.push_back(std::move(token));
  return {};
}

Status Reader::readAddedTokens(const Value *value) {
  if (!value || value->is(Value::Kind::Null))
    return {};
  const Place at = place.at("added_tokens");
  if (!value->is(Value::Kind::Array))
    return json::wrongValue(at, *value, "a list of tokens");
  for (size_t i = 0; i < value->size(); ++i)
    if (Status status = addToken((*value)[i], at.at(std::to_string(i))); !status)
      return status;
  return {};
}

// What a kind of tokenizer needs, told in the file's words.
Status Reader::checkSteps() const {
  bool alphabet = false;
  for (size_t i = 0; i < spec.preTokenizer.size(); ++i) {
    const auto kind = spec.preTokenizer[i].kind;
    const bool isAlphabet = kind == model::PreTokenizerStep::Kind::ByteLevel;
    if (alphabet && (isAlphabet || kind == model::PreTokenizerStep::Kind::Metaspace ||
                     kind == model::PreTokenizerStep::Kind::PrefixSpace))
      return place.at("pre_tokenizer")
          .error("found a step behind ByteLevel that puts other characters in, expected "
                 "ByteLevel once and only splits behind it");
    alphabet |= isAlphabet;
  }
  return {};
}

Result<TokenizerSpec> Reader::read() {
  Fields fields(root, place);
  fields.harmless({"version", "truncation", "padding", "model", "added_tokens"});
  Status status = readSteps(fields);
  if (status)
    status = fields.finish();
  if (!status)
    return status.takeError();
  const bool ofBytes = std::any_of(spec.preTokenizer.begin(), spec.preTokenizer.end(),
                                   [](const model::PreTokenizerStep &step) {
                                     return step.kind == model::PreTokenizerStep::Kind::ByteLevel;
                                   });
  spec.kind = ofBytes ? TokenizerKind::ByteLevel : TokenizerKind::Characters;
  status = checkSteps();
  if (status)
    status = readModel();
  if (status)
    status = readAddedTokens(root.find("added_tokens"));
  if (status)
    status = model::validate(spec, place.file, "");
  if (!status)
    return status.takeError();
  return std::move(spec);
}

} // namespace

Result<TokenizerSpec> parseTokenizerJson(std::string_view text, const std::string &file) {
  Result<Value> root = json::parse(text, file, kBytesPerValue);
  if (!root)
    return root.takeError();
  if (!root->is(Value::Kind::Object))
    return json::wrongValue({file, ""}, *root, "an object");
  return Reader(*root, file).read();
}

} // namespace llmc::tokenizers
