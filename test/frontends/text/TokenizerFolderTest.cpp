// SPDX-License-Identifier: Apache-2.0
// What is read from tokenizer.json, tokenizer_config.json and the files of templates.
#include "frontends/text/TokenizerFolder.h"
#include "TinyTokenizer.h"
#include "frontends/text/TokenizerJson.h"
#include "test/frontends/Support.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace llmc;
using test::TemporaryFolder;
using Json = test::Json;

namespace {

model::TokenizerSpec read(const Json &root) {
  Result<model::TokenizerSpec> spec = tokenizers::parseTokenizerJson(root.dump(), "tokenizer.json");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().str());
  return spec ? std::move(*spec) : model::TokenizerSpec();
}

model::TokenizerSpec readFolder(const TemporaryFolder &folder) {
  Result<std::optional<model::TokenizerSpec>> spec = tokenizers::readTokenizerFolder(folder.path);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().str());
  return spec && *spec ? std::move(**spec) : model::TokenizerSpec();
}

TEST(TokenizerJson, CharactersAsTheyAreWritten) {
  const model::TokenizerSpec spec = read(test::tinyCharacters());
  EXPECT_EQ(spec.kind, model::TokenizerKind::Characters);
  EXPECT_EQ(spec.tokens.size(), 14u);
  EXPECT_EQ(spec.tokens[3].bytes, "\xe2\x96\x81");
  EXPECT_FALSE(spec.tokens[13].inModel);
  EXPECT_EQ(spec.unkId, 0);
  EXPECT_EQ(spec.prefix, std::vector<int32_t>{1});
  EXPECT_TRUE(spec.suffix.empty());
  EXPECT_EQ(spec.merges[1].result, 8);
  EXPECT_TRUE(spec.byteFallback && spec.fuseUnknown);
}

TEST(TokenizerJson, BytesWithTheAlphabetUndone) {
  const model::TokenizerSpec spec = read(test::tinyBytes());
  EXPECT_EQ(spec.kind, model::TokenizerKind::ByteLevel);
  EXPECT_EQ(spec.tokens[3].bytes, " ");
  EXPECT_EQ(spec.tokens[11].bytes, "\xc3");
  EXPECT_EQ(spec.tokens[12].bytes, "\xa9");
  EXPECT_EQ(spec.merges.size(), 3u); // written as lists here
  // ByteLevel with a pattern of its own is two steps.
  ASSERT_EQ(spec.preTokenizer.size(), 3u);
  EXPECT_EQ(spec.preTokenizer[2].kind, model::PreTokenizerStep::Kind::ByteLevel);
}

TEST(TokenizerJson, ATokenOutsideTheAlphabetIsNoPartOfWords) {
  Json root = test::tinyBytes();
  root["model"]["vocab"]["two words"] = 13;
  root["added_tokens"].erase(2);
  const model::TokenizerSpec spec = read(root);
  EXPECT_EQ(spec.tokens[13].bytes, "two words");
  EXPECT_FALSE(spec.tokens[13].inModel);
}

TEST(TokenizerFolder, NoTokenizerJsonIsNoTokenizer) {
  TemporaryFolder folder;
  Result<std::optional<model::TokenizerSpec>> spec = tokenizers::readTokenizerFolder(folder.path);
  ASSERT_TRUE(spec);
  EXPECT_FALSE(*spec);
}

TEST(TokenizerFolder, NamesOfSpecialTokens) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", test::tinyCharacters().dump());
  folder.write("special_tokens_map.json", R"({"bos_token": "</s>", "pad_token": "<unk>"})");
  folder.write("tokenizer_config.json",
               R"({"bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false},
                   "unk_token": "</s>", "model_max_length": 1e30, "tokenizer_class": "X"})");
  const model::TokenizerSpec spec = readFolder(folder);
  EXPECT_EQ(spec.bosId, 1);
  EXPECT_EQ(spec.eosId, 2);
  EXPECT_EQ(spec.padId, 0);
  EXPECT_EQ(spec.unkId, 0); // the model's own
}

TEST(TokenizerFolder, LlamasClassesPutBosAndEosByTheirKeys) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", test::tinyCharacters().dump());
  Json config = {{"bos_token", "<s>"},
                 {"eos_token", "</s>"},
                 {"add_bos_token", false},
                 {"add_eos_token", true},
                 {"tokenizer_class", "LlamaTokenizer"}};
  folder.write("tokenizer_config.json", config.dump());
  model::TokenizerSpec spec = readFolder(folder);
  EXPECT_TRUE(spec.prefix.empty());
  EXPECT_EQ(spec.suffix, std::vector<int32_t>{2});
  config["tokenizer_class"] = "PreTrainedTokenizerFast";
  folder.write("tokenizer_config.json", config.dump());
  spec = readFolder(folder);
  EXPECT_EQ(spec.prefix, std::vector<int32_t>{1});
  EXPECT_TRUE(spec.suffix.empty());
}

TEST(TokenizerFolder, TemplatesFromAllPlaces) {
  TemporaryFolder folder;
  folder.write("tokenizer.json", test::tinyCharacters().dump());
  folder.write("tokenizer_config.json",
               R"({"chat_template": [{"name": "tool_use", "template": "t"},
                                     {"name": "default", "template": "old"}]})");
  folder.write("chat_template.jinja", "new");
  ASSERT_EQ(mkdir(folder.file("additional_chat_templates").c_str(), 0700), 0);
  folder.write("additional_chat_templates/rag.jinja", "r");
  const model::TokenizerSpec spec = readFolder(folder);
  ASSERT_EQ(spec.chatTemplates.size(), 3u);
  EXPECT_EQ(spec.chatTemplates[0].name, "default");
  EXPECT_EQ(spec.chatTemplates[0].text, "new"); // a file of its own holds
  EXPECT_EQ(spec.chatTemplates[1].text, "t");
  EXPECT_EQ(spec.chatTemplates[2].name, "rag");
}

} // namespace
