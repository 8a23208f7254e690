// SPDX-License-Identifier: Apache-2.0
#include "frontends/gguf/Tokenizer.h"

#include "GGUFFile.h"
#include "test/frontends/Malformed.h"

#include <cmath>
#include <functional>

using namespace llmc;
using namespace llmc::test;
using model::TokenizerKind;
using model::TokenizerSpec;
using model::TokenType;

namespace {

Result<std::optional<TokenizerSpec>> read(const GGUFFile &file, const TemporaryFolder &folder) {
  folder.write("m.gguf", file.bytes());
  Result<gguf::Container> container = gguf::Container::open(folder.file("m.gguf"));
  if (!container)
    return container.takeError();
  return gguf::readTokenizer(*container);
}

TokenizerSpec goodSpec(const GGUFFile &file) {
  TemporaryFolder folder;
  Result<std::optional<TokenizerSpec>> spec = read(file, folder);
  EXPECT_TRUE(spec) << spec.error().str();
  EXPECT_TRUE(spec && *spec);
  return spec && *spec ? **spec : TokenizerSpec();
}

GGUFKey typesKey(const std::vector<int> &types) {
  std::string bytes;
  for (int type : types)
    bytes += littleEndian(static_cast<uint64_t>(type), 4);
  return listKey("tokenizer.ggml.token_type", I32, types.size(), bytes);
}

GGUFKey scoresKey(const std::vector<float> &scores) {
  std::string bytes;
  for (float score : scores)
    bytes += floatBytes(score);
  return listKey("tokenizer.ggml.scores", F32Value, scores.size(), bytes);
}

// Six tokens: <end>, a, b, " " (Ġ), ab, " ab", and one that users defined.
GGUFFile byteLevel() {
  GGUFFile file;
  file.keys = {
      stringKey("tokenizer.ggml.model", "gpt2"),
      stringKey("tokenizer.ggml.pre", "smollm"),
      stringsKey("tokenizer.ggml.tokens", {"<end>", "a", "b", "\xC4\xA0", "ab",
                                           "\xC4\xA0"
                                           "ab",
                                           "  "}),
      typesKey({3, 1, 1, 1, 1, 1, 4}),
      stringsKey("tokenizer.ggml.merges", {"a b", "\xC4\xA0 ab"}),
      u32Key("tokenizer.ggml.eos_token_id", 0),
      u32Key("tokenizer.ggml.bos_token_id", 0),
      stringKey("tokenizer.chat_template.tool_use", "{{ tools }}"),
      stringKey("tokenizer.chat_template", "{{ messages }}"),
  };
  return file;
}

GGUFFile sentencePiece() {
  GGUFFile file;
  file.keys = {
      stringKey("tokenizer.ggml.model", "llama"),
      stringsKey("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "<0x0A>", "\xE2\x96\x81", "a",
                                           "\xE2\x96\x81"
                                           "a"}),
      typesKey({2, 3, 3, 6, 1, 1, 1}), scoresKey({0, 0, 0, 0, -3, -2, -1})};
  return file;
}

TEST(GGUFTokenizer, ReadsByteLevelBPE) {
  TokenizerSpec spec = goodSpec(byteLevel());
  EXPECT_EQ(spec.kind, TokenizerKind::ByteLevel);
  ASSERT_EQ(spec.tokens.size(), 7u);
  EXPECT_EQ(spec.tokens[5].bytes, " ab");
  EXPECT_TRUE(spec.tokens[5].inModel);
  EXPECT_FALSE(spec.tokens[0].inModel);
  EXPECT_EQ(spec.tokens[0].type, TokenType::Control);
  ASSERT_EQ(spec.merges.size(), 2u);
  EXPECT_EQ(spec.merges[1].left, 3);
  EXPECT_EQ(spec.merges[1].right, 4);
  EXPECT_EQ(spec.merges[1].result, 5);
  ASSERT_EQ(spec.addedTokens.size(), 2u);
  EXPECT_EQ(spec.addedTokens[0].content, "<end>");
  EXPECT_TRUE(spec.addedTokens[0].special);
  EXPECT_EQ(spec.addedTokens[1].content, "  ");
  EXPECT_FALSE(spec.addedTokens[1].special);
  EXPECT_EQ(spec.preTokenizer.size(), 3u); // digits, words, bytes
  EXPECT_EQ(spec.bosId, 0);
  EXPECT_EQ(spec.unkId, -1);
  EXPECT_TRUE(spec.prefix.empty()); // smollm's texts do not begin with it
  ASSERT_EQ(spec.chatTemplates.size(), 2u);
  EXPECT_EQ(spec.chatTemplates[0].name, "default");
  EXPECT_EQ(spec.chatTemplates[1].name, "tool_use");
}

TEST(GGUFTokenizer, WhetherTextsBeginWithBOS) {
  GGUFFile file = byteLevel();
  file.set(stringKey("tokenizer.ggml.pre", "llama-bpe"));
  EXPECT_EQ(goodSpec(file).prefix, std::vector<int32_t>{0});
  file.set(boolKey("tokenizer.ggml.add_bos_token", false));
  EXPECT_TRUE(goodSpec(file).prefix.empty());
  file.set(boolKey("tokenizer.ggml.add_eos_token", true));
  EXPECT_EQ(goodSpec(file).suffix, std::vector<int32_t>{0});
}

TEST(GGUFTokenizer, ReadsSentencePiece) {
  TokenizerSpec spec = goodSpec(sentencePiece());
  EXPECT_EQ(spec.kind, TokenizerKind::Characters);
  EXPECT_TRUE(spec.byteFallback);
  EXPECT_EQ(spec.tokens[6].score, -1);
  EXPECT_EQ(spec.tokens[3].type, TokenType::Byte);
  EXPECT_EQ(spec.unkId, 0);
  EXPECT_EQ(spec.prefix, std::vector<int32_t>{1});
  ASSERT_EQ(spec.normalizer.size(), 2u);
  GGUFFile file = sentencePiece();
  file.set(boolKey("tokenizer.ggml.add_space_prefix", false));
  EXPECT_EQ(goodSpec(file).normalizer.size(), 1u);
}

TEST(GGUFTokenizer, AFileMayHaveNone) {
  for (const char *none : {"none", "no_vocab"}) {
    GGUFFile file;
    file.keys = {stringKey("tokenizer.ggml.model", none)};
    TemporaryFolder folder;
    Result<std::optional<TokenizerSpec>> spec = read(file, folder);
    ASSERT_TRUE(spec);
    EXPECT_FALSE(*spec);
  }
}

struct MalformedClass {
  const char *name;
  std::function<std::string(GGUFFile &, Random &)> plant; // gives the key's last part
};

std::vector<std::string> manyTokens(size_t count) {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back("t" + std::to_string(i));
  return tokens;
}

const MalformedClass classes[] = {
    {"UnknownModel",
     [](GGUFFile &file, Random &random) {
       std::vector<std::string> names = {"bert", "t5", "rwkv", "", "GPT2", "\x1B[2J"};
       file.set(stringKey("tokenizer.ggml.model", random.pick(names)));
       return "model";
     }},
    {"UnknownPreTokenizer",
     [](GGUFFile &file, Random &random) {
       std::vector<std::string> names = {"default", "", "llama", "smollm ", "bloom", "\n"};
       file.set(stringKey("tokenizer.ggml.pre", random.pick(names)));
       return "pre";
     }},
    {"EmptyVocabulary",
     [](GGUFFile &file, Random &random) {
       if (random.below(2))
         file.keys.erase(file.keys.begin() + 2);
       else
         file.set(stringsKey("tokenizer.ggml.tokens", {}));
       return "tokens";
     }},
    {"TokensOfAnotherType",
     [](GGUFFile &file, Random &random) {
       file.set(listKey("tokenizer.ggml.tokens", U8, 7, "1234567"));
       if (random.below(2))
         file.set(stringKey("tokenizer.ggml.tokens", "a b c"));
       return "tokens";
     }},
    {"DuplicateText",
     [](GGUFFile &file, Random &random) {
       std::vector<std::string> tokens = manyTokens(7);
       size_t one = random.below(7);
       tokens[(one + 1 + random.below(6)) % 7] = tokens[one];
       file.set(stringsKey("tokenizer.ggml.tokens", tokens));
       return "tokens";
     }},
    {"MergeOfNoTokens",
     [](GGUFFile &file, Random &random) {
       std::vector<std::string> pairs = {"a c", "b a", "c a", "a \x07", "ab  "};
       file.set(stringsKey("tokenizer.ggml.merges", {"a b", random.pick(pairs)}));
       return "merges";
     }},
    {"MergeWithoutSpace",
     [](GGUFFile &file, Random &random) {
       std::vector<std::string> pairs = {"ab", "", " ", " ab", "a"};
       file.set(stringsKey("tokenizer.ggml.merges", {random.pick(pairs)}));
       return "merges";
     }},
    {"TypesOfAnotherLength",
     [](GGUFFile &file, Random &random) {
       size_t count = random.below(2) ? random.below(7) : 8 + random.below(1000);
       file.set(typesKey(std::vector<int>(count, 1)));
       return "token_type";
     }},
    {"UnknownTokenType",
     [](GGUFFile &file, Random &random) {
       std::vector<int> types(7, 1), wrong = {0, -1, 7, 1000, INT32_MIN, INT32_MAX};
       types[random.below(7)] = random.pick(wrong);
       file.set(typesKey(types));
       return "token_type";
     }},
    {"ScoresOfAnotherLength",
     [](GGUFFile &file, Random &random) {
       file = sentencePiece();
       size_t count = random.below(2) ? random.below(7) : 8 + random.below(1000);
       file.set(scoresKey(std::vector<float>(count, 0)));
       return "scores";
     }},
    {"ScoreThatIsNoNumber",
     [](GGUFFile &file, Random &random) {
       file = sentencePiece();
       std::vector<float> scores(7, 0), wrong = {NAN, INFINITY, -INFINITY};
       scores[random.below(7)] = random.pick(wrong);
       file.set(scoresKey(scores));
       return "scores";
     }},
    {"IdOutside",
     [](GGUFFile &file, Random &random) {
       std::vector<std::string> names = {"bos_token_id", "eos_token_id", "unknown_token_id",
                                         "padding_token_id"};
       std::string name = random.pick(names);
       file.set(u32Key("tokenizer.ggml." + name, 7 + static_cast<uint32_t>(random.below(1000))));
       return name;
     }},
    {"SwitchThatIsNone",
     [](GGUFFile &file, Random &random) {
       std::string name = random.below(2) ? "add_bos_token" : "add_eos_token";
       file.set(u32Key("tokenizer.ggml." + name, 1));
       return name;
     }},
};

class MalformedGGUFTokenizer : public testing::TestWithParam<MalformedClass> {};

TEST_P(MalformedGGUFTokenizer, IsRefusedWithFilePlaceFoundAndExpected) {
  for (unsigned seed = 0; seed < seedsOfAClass; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    GGUFFile file = byteLevel();
    std::string name = GetParam().plant(file, random);
    TemporaryFolder folder;
    Result<std::optional<TokenizerSpec>> spec = read(file, folder);
    ASSERT_FALSE(spec.ok());
    expectGoodMessage(spec.error(), folder, {"m.gguf", "key 'tokenizer.ggml." + name + "'"});
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, MalformedGGUFTokenizer, testing::ValuesIn(classes),
                         [](const testing::TestParamInfo<MalformedClass> &info) {
                           return info.param.name;
                         });

} // namespace
