// SPDX-License-Identifier: Apache-2.0
// llmc/text.h on the demo model with tables planted in it: what a C program sees.
#include "llmc/abi.h"
#include "llmc/llmc.h"
#include "test/runtime/text/Support.h"

#include <cstring>

extern "C" const llmc_artifact *demo_llmc_query(uint32_t version);

namespace llmc::test {

// Owners.cpp: llmc.hpp has names of its own for errors and results.
std::string roundTripByOwners(llmc_context *context, llmc_model_query query, const char *text);

namespace {

// In this program's memory, where the checks of an artefact accept it.
struct Planted {
  llmc_artifact artifact;
  alignas(64) char tokenizer[1 << 20];
  alignas(64) char weights[1 << 16];
};
Planted planted;

const llmc_artifact *queryPlanted(uint32_t version) {
  return version == LLMC_ABI_VERSION ? &planted.artifact : nullptr;
}

model::TokenizerSpec demoTokenizer() {
  auto spec = byteTokenizer({{"a", "b"}});
  const int32_t bos = addToken(spec, special("<s>"));
  spec.bosId = bos;
  spec.prefix = {bos};
  spec.chatTemplates = {{"default", "hello {{ messages[0].content }}"}, {"other", "x"}};
  return spec;
}

class TextApi : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(llmc_context_create(nullptr, &context, nullptr), LLMC_OK);
    error.struct_size = sizeof error;
  }
  void TearDown() override {
    llmc_model_destroy(model);
    llmc_context_destroy(context);
  }
  // The demo's tables lie in its own object, so only what this test needs is copied from there:
  // with pointers to memory elsewhere opening fails.
  llmc_status open(const std::string &tables) {
    EXPECT_LE(tables.size(), sizeof planted.tokenizer);
    planted.artifact = *demo_llmc_query(LLMC_ABI_VERSION);
    planted.artifact.weights_delta =
        planted.weights - reinterpret_cast<char *>(&planted.artifact.weights_delta);
    memcpy(planted.tokenizer, tables.data(), tables.size());
    planted.artifact.tokenizer = tables.empty() ? nullptr : planted.tokenizer;
    planted.artifact.tokenizer_bytes = tables.size();
    return llmc_model_from_artifact(context, queryPlanted, nullptr, &model, &error);
  }

  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_error error{};
};

TEST_F(TextApi, EncodesIntoTheCallersMemory) {
  ASSERT_EQ(open(TestTokenizer(demoTokenizer()).tables()), LLMC_OK) << error.message;
  int32_t tokens[8] = {-7, -7, -7, -7, -7, -7, -7, -7};
  size_t count = 99;
  ASSERT_EQ(llmc_encode(model, "abc", 3, LLMC_ENCODE_ADD_SPECIAL, tokens, 8, &count, &error),
            LLMC_OK);
  EXPECT_EQ(Ids(tokens, tokens + count), (Ids{257, 256, 'c'}));
  EXPECT_EQ(tokens[3], -7);
  EXPECT_EQ(llmc_encode(model, "abc", 3, 0, tokens, 1, &count, &error), LLMC_TOO_SMALL);
  EXPECT_EQ(count, 2u);
  EXPECT_STREQ(error.message, "encode: error: found room for 1, expected room for 2");
  EXPECT_EQ(llmc_encode(model, nullptr, 0, 0, nullptr, 0, &count, &error), LLMC_OK);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(llmc_encode(model, nullptr, 3, 0, tokens, 8, &count, &error), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_encode(model, "a", 1, 64, tokens, 8, &count, &error), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_encode(nullptr, "a", 1, 0, tokens, 8, &count, &error), LLMC_INVALID_ARGUMENT);
}

TEST_F(TextApi, DecodesAndRefusesIdsOutside) {
  ASSERT_EQ(open(TestTokenizer(demoTokenizer()).tables()), LLMC_OK) << error.message;
  char text[16];
  size_t bytes = 0;
  const int32_t tokens[] = {257, 256, 'c'};
  ASSERT_EQ(llmc_decode(model, tokens, 3, 0, text, sizeof text, &bytes, &error), LLMC_OK);
  EXPECT_EQ(std::string(text, bytes), "<s>abc");
  ASSERT_EQ(llmc_decode(model, tokens, 3, LLMC_DECODE_SKIP_SPECIAL, text, 2, &bytes, &error),
            LLMC_TOO_SMALL);
  EXPECT_EQ(bytes, 3u);
  EXPECT_EQ(std::string(text, 2), "ab");
  for (int32_t wrong : {-1, 258, INT32_MAX}) {
    EXPECT_EQ(llmc_decode(model, &wrong, 1, 0, text, sizeof text, &bytes, &error),
              LLMC_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(error.message),
              "decode: error: found token id " + std::to_string(wrong) + ", expected 0 to 257");
  }
}

TEST_F(TextApi, StreamsWholeCharacters) {
  ASSERT_EQ(open(TestTokenizer(demoTokenizer()).tables()), LLMC_OK) << error.message;
  llmc_decoder *decoder = nullptr;
  ASSERT_EQ(llmc_decoder_create(model, 0, &decoder, &error), LLMC_OK) << error.message;
  llmc_model_destroy(model); // the decoder keeps it alive
  model = nullptr;
  std::string all;
  const char *text = nullptr;
  size_t bytes = 0;
  for (int32_t token : {0xc3, 0xa9, 256, 0xf0}) {
    ASSERT_EQ(llmc_decoder_add(decoder, token, &text, &bytes, nullptr), LLMC_OK);
    EXPECT_EQ(token == 0xc3 || token == 0xf0, bytes == 0);
    all.append(text, bytes);
  }
  llmc_decoder_finish(decoder, &text, &bytes);
  EXPECT_EQ(all + std::string(text, bytes), "\u00e9ab\ufffd");
  EXPECT_EQ(llmc_decoder_add(decoder, 9999, &text, &bytes, nullptr), LLMC_INVALID_ARGUMENT);
  llmc_decoder_destroy(decoder);
}

TEST_F(TextApi, OwnersOfCppDoTheSame) {
  ASSERT_EQ(open(TestTokenizer(demoTokenizer()).tables()), LLMC_OK) << error.message;
  EXPECT_EQ(roundTripByOwners(context, queryPlanted, "ab \u00e9"), "<s>ab \u00e9");
}

TEST_F(TextApi, TellsAboutTheTokenizer) {
  ASSERT_EQ(open(TestTokenizer(demoTokenizer()).tables()), LLMC_OK) << error.message;
  llmc_tokenizer_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(llmc_model_get_tokenizer_info(model, &info, &error), LLMC_OK);
  EXPECT_EQ(info.n_tokens, 258u);
  EXPECT_EQ(info.bos, 257);
  EXPECT_EQ(info.eos, -1);
  EXPECT_EQ(info.n_prefix, 1u);
  EXPECT_STREQ(info.kind, "byte-level");
  const char *text = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(llmc_token_bytes(model, 256, &text, &bytes, &error), LLMC_OK);
  EXPECT_EQ(std::string(text, bytes), "ab");
  EXPECT_EQ(llmc_token_is_special(model, 257), 1);
  EXPECT_EQ(llmc_token_is_special(model, 256), 0);
  ASSERT_EQ(llmc_chat_template(model, nullptr, &text, &bytes, &error), LLMC_OK);
  EXPECT_EQ(std::string(text, bytes), "hello {{ messages[0].content }}");
  ASSERT_EQ(llmc_chat_template(model, "other", &text, &bytes, &error), LLMC_OK);
  EXPECT_EQ(llmc_chat_template(model, "none", &text, &bytes, &error), LLMC_NOT_FOUND);
}

TEST_F(TextApi, AModelWithoutOneSaysSo) {
  ASSERT_EQ(open(""), LLMC_OK) << error.message;
  size_t count = 0;
  int32_t token = 0;
  EXPECT_EQ(llmc_encode(model, "a", 1, 0, &token, 1, &count, &error), LLMC_NO_TOKENIZER);
  EXPECT_STREQ(error.message,
               "encode: error: found no tokenizer in this model, expected one; compile it from a "
               "source that has one, or give token ids");
  llmc_decoder *decoder = nullptr;
  EXPECT_EQ(llmc_decoder_create(model, 0, &decoder, &error), LLMC_NO_TOKENIZER);
}

TEST_F(TextApi, DamagedTablesKeepAModelFromOpening) {
  std::string tables = TestTokenizer(demoTokenizer()).tables();
  tables[sizeof(llmc_tokenizer_header) - 3] ^= 0x40; // the span of the strings
  EXPECT_EQ(open(tables), LLMC_BAD_ARTIFACT);
  EXPECT_NE(std::string(error.message).find("linked model: tokenizer: error: found strings"),
            std::string::npos)
      << error.message;
}

} // namespace
} // namespace llmc::test
