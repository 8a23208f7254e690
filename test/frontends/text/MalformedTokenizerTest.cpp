// SPDX-License-Identifier: Apache-2.0
// Classes of malformed tokenizers, each planted at a dozen seeded places. Every one is refused with
// a line that names file, place, what was found and what was expected, before or while its tables
// are made.
#include "TinyTokenizer.h"
#include "frontends/text/TokenizerFolder.h"
#include "passes/codegen/tokenizer/TokenizerTables.h"
#include "test/frontends/Malformed.h"

#include <functional>

using namespace llmc;
using test::Expected;
using test::expectGoodMessage;
using test::Random;
using test::TemporaryFolder;
using Json = test::Json;

namespace {

struct Tokenizer {
  Json root;
  std::string text;             // written instead, when set
  Json config = Json::object(); // tokenizer_config.json
  bool ofBytes = false;

  Json &model() { return root["model"]; }
  Json &vocab() { return root["model"]["vocab"]; }
};

constexpr const char *kFile = "tokenizer.json";

struct MalformedClass {
  const char *name;
  std::function<Expected(Tokenizer &, Random &)> plant;
};

std::string anyToken(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> texts;
  for (const auto &item : tokenizer.vocab().items())
    texts.push_back(item.key());
  return random.pick(texts);
}

Expected truncated(Tokenizer &tokenizer, Random &random) {
  const std::string whole = tokenizer.root.dump(1);
  tokenizer.text = whole.substr(0, 1 + random.below(whole.size() - 2));
  return {kFile, "line "};
}

Expected noUtf8(Tokenizer &tokenizer, Random &random) {
  tokenizer.text = tokenizer.root.dump();
  tokenizer.text.insert(tokenizer.text.find("<unk>") + random.below(4), "\xff");
  return {kFile, "line "};
}

Expected nested(Tokenizer &tokenizer, Random &random) {
  tokenizer.text = "{\"decoder\": ";
  for (size_t i = 0; i < 100000 + random.below(1000); ++i)
    tokenizer.text += random.below(2) ? "[" : "{\"a\":";
  return {kFile, "/decoder/"};
}

Expected duplicateKey(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> keys = {"model", "decoder", "version", "added_tokens"};
  tokenizer.text = tokenizer.root.dump();
  tokenizer.text.insert(1, "\"" + random.pick(keys) + "\": 1, ");
  return {kFile, "/"};
}

Expected emptyVocabulary(Tokenizer &tokenizer, Random &random) {
  tokenizer.vocab() = Json::object();
  if (random.below(2))
    tokenizer.model()["merges"] = Json::array();
  return {kFile, "/model/vocab"};
}

Expected duplicateId(Tokenizer &tokenizer, Random &random) {
  tokenizer.vocab()["x" + std::to_string(random.below(1000))] = random.below(13);
  return {kFile, "/model/vocab/x"};
}

Expected idOutOfRange(Tokenizer &tokenizer, Random &random) {
  const std::vector<int64_t> ids = {-1, INT64_MIN, INT64_MAX, int64_t(1) << 40, 1 << 20};
  std::vector<Json> values;
  for (int64_t id : ids)
    values.push_back(id);
  const std::string token = anyToken(tokenizer, random);
  tokenizer.vocab()[token] = random.pick(values);
  return {kFile, "/model/vocab/"};
}

Expected idIsNoNumber(Tokenizer &tokenizer, Random &random) {
  std::vector<Json> values = {1.5, "1", nullptr, true, Json::array()};
  tokenizer.vocab()[anyToken(tokenizer, random)] = random.pick(values);
  return {kFile, "/model/vocab/"};
}

Expected mergeOfNoToken(Tokenizer &tokenizer, Random &random) {
  std::vector<Json> merges = {"a x", "x a", "b a", Json::array({"a", "y"}),
                              Json::array({"c", "c"})};
  Json &all = tokenizer.model()["merges"];
  const size_t at = random.below(all.size());
  all[at] = random.pick(merges);
  return {kFile, "/model/merges/" + std::to_string(at)};
}

Expected mergeOfAnotherShape(Tokenizer &tokenizer, Random &random) {
  std::vector<Json> merges = {"ab",
                              "a b c",
                              7,
                              nullptr,
                              Json::array({"a"}),
                              Json::array({"a", "b", "c"}),
                              Json::array({1, 2}),
                              Json::object()};
  Json &all = tokenizer.model()["merges"];
  const size_t at = random.below(all.size());
  all[at] = random.pick(merges);
  return {kFile, "/model/merges/" + std::to_string(at)};
}

Expected addedIdContradicts(Tokenizer &tokenizer, Random &random) {
  const size_t at = random.below(3);
  tokenizer.root["added_tokens"][at]["id"] = 20 + random.below(1000);
  return {kFile, "/added_tokens/" + std::to_string(at) + "/id"};
}

Expected addedTwice(Tokenizer &tokenizer, Random &random) {
  Json &all = tokenizer.root["added_tokens"];
  all.push_back(all[random.below(2)]);
  return {kFile, "/added_tokens/3/content"};
}

Expected addedEmpty(Tokenizer &tokenizer, Random &random) {
  const size_t at = random.below(3);
  tokenizer.root["added_tokens"][at]["content"] = "";
  return {kFile, "/added_tokens/" + std::to_string(at) + "/content"};
}

Expected unknownKey(Tokenizer &tokenizer, Random &random) {
  const std::string key = "unheard_of_" + std::to_string(random.below(100));
  switch (random.below(3)) {
  case 0:
    tokenizer.root[key] = 1;
    return {kFile, "/" + key};
  case 1:
    tokenizer.model()[key] = 1;
    return {kFile, "/model/" + key};
  default:
    tokenizer.root["added_tokens"][1][key] = 1;
    return {kFile, "/added_tokens/1/" + key};
  }
}

Expected unknownStep(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> lists = {"normalizer", "pre_tokenizer", "decoder", "post_processor"};
  std::vector<std::string> types = {"Lowercase", "BertNormalizer", "Precompiled", "WordPiece", "?"};
  const std::string list = random.pick(lists);
  tokenizer.root[list] = {{"type", random.pick(types)}};
  return {kFile, "/" + list + "/type"};
}

Expected tooManySteps(Tokenizer &tokenizer, Random &random) {
  Json step = {{"type", "NFC"}};
  for (size_t i = 0; i < 9 + random.below(20); ++i)
    step = {{"type", "Sequence"}, {"normalizers", Json::array({step})}};
  if (random.below(2)) {
    step = {{"type", "Sequence"}, {"normalizers", Json::array()}};
    for (size_t i = 0; i < 65 + random.below(100); ++i)
      step["normalizers"].push_back({{"type", "NFC"}});
  }
  tokenizer.root["normalizer"] = step;
  return {kFile, "/normalizer"};
}

Expected patternThatIsNone(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> patterns = {"(",      "a)",        "[a-", "*a",    "(?<n",
                                       "a{3,1}", "\\p{Nope}", "(?=", "[z-a]", "(?#"};
  tokenizer.root["pre_tokenizer"] = {{"type", "Split"},
                                     {"pattern", {{"Regex", random.pick(patterns)}}},
                                     {"behavior", "Isolated"},
                                     {"invert", false}};
  tokenizer.root["model"]["byte_fallback"] = true;
  return {kFile, ""};
}

Expected patternOfAnotherLanguage(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> patterns = {"[a-z&&[^b]]", "[a[b]]", "\\X", "\\K",   "(?<name>a)",
                                       "\\W[\\W]",    "\\k<n>", "\\G", "\\u12", "(?~a)"};
  tokenizer.root["normalizer"] = {
      {"type", "Replace"}, {"pattern", {{"Regex", random.pick(patterns)}}}, {"content", ""}};
  return {kFile, "/normalizer/0"};
}

Expected patternMissing(Tokenizer &tokenizer, Random &random) {
  std::vector<Json> patterns = {Json::object(), {{"Regex", ""}}, {{"String", ""}},
                                {{"Regex", 1}}, "text",          {{"Other", "a"}}};
  tokenizer.root["normalizer"] = {
      {"type", "Replace"}, {"pattern", random.pick(patterns)}, {"content", ""}};
  return {kFile, "/normalizer/pattern"};
}

Expected anotherModel(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> types = {"Unigram", "WordPiece", "WordLevel", "bpe", ""};
  tokenizer.model()["type"] = random.pick(types);
  return {kFile, "/model/type"};
}

Expected wordPrefix(Tokenizer &tokenizer, Random &random) {
  const char *key = random.below(2) ? "continuing_subword_prefix" : "end_of_word_suffix";
  tokenizer.model()[key] = random.below(2) ? "##" : "</w>";
  return {kFile, std::string("/model/") + key};
}

Expected wrongType(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> keys = {"vocab", "merges", "fuse_unk", "ignore_merges", "dropout"};
  const std::string key = random.pick(keys);
  tokenizer.model()[key] = "text";
  return {kFile, "/model/" + key};
}

Expected missingPart(Tokenizer &tokenizer, Random &random) {
  switch (random.below(3)) {
  case 0:
    tokenizer.root.erase("model");
    return {kFile, "/"};
  case 1:
    tokenizer.model().erase("vocab");
    return {kFile, "/model"};
  default:
    tokenizer.model().erase("merges");
    return {kFile, "/model"};
  }
}

Expected unknownTokenIsNone(Tokenizer &tokenizer, Random &random) {
  tokenizer.model()["unk_token"] = "<none" + std::to_string(random.below(9)) + ">";
  return {kFile, "/model/unk_token"};
}

Expected templateIds(Tokenizer &tokenizer, Random &random) {
  Json &processor = tokenizer.root["post_processor"];
  switch (random.below(4)) {
  case 0:
    processor["special_tokens"]["<s>"]["ids"][0] = -1 - static_cast<int>(random.below(9));
    return {kFile, "/post_processor/single/0"};
  case 1:
    processor["special_tokens"].erase("<s>");
    return {kFile, "/post_processor/single/0"};
  case 2:
    processor["special_tokens"]["<s>"]["ids"][0] = 1000 + random.below(1000);
    return {kFile, "/prefix"};
  default:
    processor["single"] = Json::array();
    return {kFile, "/post_processor/single"};
  }
}

Expected decoderThatCannotStream(Tokenizer &tokenizer, Random &random) {
  std::vector<Json> steps = {{{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}},
                             {{"type", "Replace"}, {"pattern", {{"Regex", "a+"}}}, {"content", ""}},
                             {{"type", "ByteLevel"}},
                             {{"type", "ByteFallback"}}};
  tokenizer.root["decoder"] = {
      {"type", "Sequence"},
      {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}, random.pick(steps)}}};
  if (tokenizer.ofBytes)
    return {kFile, "/decoder"};
  return {kFile, "/decoder/2"};
}

Expected configSpecials(Tokenizer &tokenizer, Random &random) {
  std::vector<std::string> keys = {"bos_token", "eos_token", "unk_token", "pad_token"};
  std::vector<Json> values = {1, true, Json::array(), {{"content", 1}}, Json::object()};
  const std::string key = random.pick(keys);
  tokenizer.config[key] = random.pick(values);
  return {"tokenizer_config.json", "/" + key};
}

Expected configTemplates(Tokenizer &tokenizer, Random &random) {
  std::vector<Json> values = {1, Json::object(), Json::array({"text"}),
                              Json::array({{{"name", "default"}}})};
  tokenizer.config["chat_template"] = random.pick(values);
  return {"tokenizer_config.json", "/chat_template"};
}

Expected tokenTooLong(Tokenizer &tokenizer, Random &random) {
  tokenizer.vocab()[std::string((1 << 20) + 1 + random.below(100), 'a')] = 13;
  tokenizer.root["added_tokens"].erase(2);
  return {kFile, "/model/vocab/"};
}

const MalformedClass classes[] = {
    {"truncated", truncated},
    {"noUtf8", noUtf8},
    {"nested", nested},
    {"duplicateKey", duplicateKey},
    {"emptyVocabulary", emptyVocabulary},
    {"duplicateId", duplicateId},
    {"idOutOfRange", idOutOfRange},
    {"idIsNoNumber", idIsNoNumber},
    {"mergeOfNoToken", mergeOfNoToken},
    {"mergeOfAnotherShape", mergeOfAnotherShape},
    {"addedIdContradicts", addedIdContradicts},
    {"addedTwice", addedTwice},
    {"addedEmpty", addedEmpty},
    {"unknownKey", unknownKey},
    {"unknownStep", unknownStep},
    {"tooManySteps", tooManySteps},
    {"patternThatIsNone", patternThatIsNone},
    {"patternOfAnotherLanguage", patternOfAnotherLanguage},
    {"patternMissing", patternMissing},
    {"anotherModel", anotherModel},
    {"wordPrefix", wordPrefix},
    {"wrongType", wrongType},
    {"missingPart", missingPart},
    {"unknownTokenIsNone", unknownTokenIsNone},
    {"templateIds", templateIds},
    {"decoderThatCannotStream", decoderThatCannotStream},
    {"configSpecials", configSpecials},
    {"configTemplates", configTemplates},
    {"tokenTooLong", tokenTooLong},
};

class MalformedTokenizer : public ::testing::TestWithParam<MalformedClass> {};

// The first thing wrong with a folder's tokenizer, or with the tables made of it.
std::optional<Error> refusal(const TemporaryFolder &folder) {
  Result<std::optional<model::TokenizerSpec>> spec = tokenizers::readTokenizerFolder(folder.path);
  if (!spec)
    return spec.takeError();
  Result<std::string> tables = tokenizer::buildTables(**spec, folder.file(kFile));
  return tables ? std::optional<Error>() : tables.takeError();
}

TEST_P(MalformedTokenizer, IsRefused) {
  for (int seed = 0; seed < test::seedsOfAClass; ++seed) {
    Random random(static_cast<unsigned>(seed));
    Tokenizer tokenizer;
    tokenizer.ofBytes = seed % 2;
    tokenizer.root = tokenizer.ofBytes ? test::tinyBytes() : test::tinyCharacters();
    const Expected expected = GetParam().plant(tokenizer, random);
    TemporaryFolder folder;
    folder.write(kFile, tokenizer.text.empty() ? tokenizer.root.dump(1) : tokenizer.text);
    folder.write("tokenizer_config.json", tokenizer.config.dump());
    const std::optional<Error> error = refusal(folder);
    ASSERT_TRUE(error) << GetParam().name << " seed " << seed;
    expectGoodMessage(*error, folder, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, MalformedTokenizer, ::testing::ValuesIn(classes),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(MalformedTokenizer, WhatIsNotPlantedIsFine) {
  for (const Json &root : {test::tinyBytes(), test::tinyCharacters()}) {
    TemporaryFolder folder;
    folder.write(kFile, root.dump(1));
    folder.write("tokenizer_config.json", "{}");
    const std::optional<Error> error = refusal(folder);
    EXPECT_FALSE(error) << error->str();
  }
}

} // namespace
