// SPDX-License-Identifier: Apache-2.0
// Tokens to text, all at once and token by token.
#include "test/runtime/text/Support.h"

#include "runtime/text/Utf8.h"
#include <random>

namespace llmc::test {
namespace {

TEST(Decode, BytesAreReadAsUtf8) {
  TestTokenizer tokenizer(byteTokenizer({}));
  EXPECT_EQ(tokenizer.decode({0xf0, 0x9f, 0x98, 0x80}), "\U0001f600");
  EXPECT_EQ(tokenizer.decode({0xf0, 0x9f, 0x98}), "\ufffd");
  EXPECT_EQ(tokenizer.decode({0xf0, 0x9f, 'a', 0xff}), "\ufffda\ufffd");
  EXPECT_EQ(tokenizer.decode({}), "");
}

TEST(Decode, RunsOfByteTokensAreUtf8AsAWholeOrNotAtAll) {
  auto spec = characterTokenizer({});
  const int32_t byte0 = idOf(spec, "<0x00>");
  const int32_t a = idOf(spec, "a");
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.decode({byte0 + 0xc3, byte0 + 0xa9, a}), "\u00e9a");
  EXPECT_EQ(tokenizer.decode({byte0 + 0xc3, byte0 + 0xa9, byte0 + 0xff, a}), "\ufffd\ufffd\ufffda");
  EXPECT_EQ(tokenizer.decode({byte0 + 0xc3, a}), "\ufffda");
  // While streaming, a whole character is given as soon as it is one.
  EXPECT_EQ(tokenizer.stream({byte0 + 0xc3, byte0 + 0xa9, byte0 + 0xff, a}), "\u00e9\ufffda");
}

TEST(Decode, TheFirstSpaceGoesWhereTheTokenizerPutIt) {
  auto spec = characterTokenizer({});
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("ab cd")), "ab cd");
  EXPECT_EQ(tokenizer.stream(tokenizer.encode("ab cd")), "ab cd");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("  ab")), "  ab");
}

TEST(Decode, MetaspaceTakesTheMarksOfTheFirstToken) {
  auto spec = characterTokenizer({{"\xe2\x96\x81", "a"}});
  model::DecoderStep step;
  step.kind = model::DecoderStep::Kind::Metaspace;
  step.content = "\xe2\x96\x81";
  spec.decoder = {step};
  const int32_t marked = idOf(spec, "\xe2\x96\x81"
                                    "a");
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.decode({marked, marked}), "a a");
  EXPECT_EQ(tokenizer.stream({marked, marked}), "a a");
}

TEST(Decode, WithoutADecoderTokensArePartedBySpaces) {
  auto spec = characterTokenizer({});
  spec.decoder.clear();
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.decode({idOf(spec, "a"), idOf(spec, "b")}), "a b");
}

TEST(Decode, SpecialTokensAndUnknownIdsAreLeftOut) {
  auto spec = byteTokenizer({});
  const int32_t token = addToken(spec, special("<s>"));
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.decode({token, 'a', 5000, 'b'}), "<s>ab");
  EXPECT_EQ(tokenizer.decode({token, 'a', token, 'b'}, LLMC_DECODE_SKIP_SPECIAL), "ab");
  // A special token between the bytes of a character, left out, does not part them.
  EXPECT_EQ(tokenizer.decode({0xc3, token, 0xa9}, LLMC_DECODE_SKIP_SPECIAL), "\u00e9");
}

TEST(Decode, StreamingGivesTheSameTextInWholeCharacters) {
  auto spec = byteTokenizer({{"\xf0", "\x9f"}, {"\xe2", "\x82"}});
  addToken(spec, special("<s>"));
  TestTokenizer tokenizer(spec);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Ids ids(random() % 12);
    for (int32_t &id : ids) { // mostly bytes that could be parts of characters
      const int32_t choices[] = {0xf0, 0x9f, 0x98, 0x80, 0xe2, 0xc3, 0xa9, 'a', 256, 257, 258};
      id = choices[random() % 11];
    }
    for (uint32_t flags : {0u, LLMC_DECODE_SKIP_SPECIAL}) {
      const std::string whole = tokenizer.decode(ids, flags);
      EXPECT_EQ(tokenizer.stream(ids, flags), whole);
      EXPECT_TRUE(text::isWellFormed({whole.data(), whole.size()}));
    }
  }
}

} // namespace
} // namespace llmc::test
