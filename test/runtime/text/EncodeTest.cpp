// SPDX-License-Identifier: Apache-2.0
// What encoding promises, on tokenizers small enough to see why.
#include "test/runtime/text/Support.h"

#include <chrono>
#include <random>

namespace llmc::test {
namespace {

constexpr const char *kMark = "\xe2\x96\x81";

TEST(Encode, BytesMergeByRankNotByPlace) {
  // "abc": bc has the lower rank, so ab never comes about.
  auto spec = byteTokenizer({{"b", "c"}, {"a", "b"}});
  EXPECT_EQ(TestTokenizer(spec).encode("abc"), (Ids{'a', 256}));
  EXPECT_EQ(TestTokenizer(spec).encode("abab"), (Ids{257, 257}));
}

TEST(Encode, OfEqualPairsTheLeftmostMerges) {
  auto spec = byteTokenizer({{"a", "a"}});
  EXPECT_EQ(TestTokenizer(spec).encode("aaaaa"), (Ids{256, 256, 'a'}));
}

TEST(Encode, LongWordsAsShortOnes) {
  // The heap and the plain search give the same; 40 symbols is where one takes over.
  auto spec = byteTokenizer({{"a", "b"}, {"b", "a"}, {"ab", "a"}, {"ab", "ab"}, {"abab", "abab"}});
  TestTokenizer tokenizer(spec);
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    std::string word(30 + random() % 40, 'a');
    for (char &letter : word)
      letter = random() % 2 ? 'a' : 'b';
    // Symbols joined again are the word, and no pair of neighbours may still merge.
    const Ids ids = tokenizer.encode(word);
    EXPECT_EQ(tokenizer.decode(ids), word);
    for (size_t at = 1; at < ids.size(); ++at)
      for (const model::Merge &merge : spec.merges)
        EXPECT_FALSE(merge.left == ids[at - 1] && merge.right == ids[at]) << word;
  }
}

TEST(Encode, WordsThatAreTokensAreTakenWholeOnlyIfMergesSayTheSame) {
  // "abc" is a token that merges cannot reach: ab + c is no merge.
  auto spec = byteTokenizer({{"a", "b"}});
  model::Token unreachable;
  unreachable.bytes = "abc";
  spec.tokens.push_back(unreachable);
  EXPECT_EQ(TestTokenizer(spec).encode("abc"), (Ids{256, 'c'}));
  spec.ignoreMerges = true;
  EXPECT_EQ(TestTokenizer(spec).encode("abc"), (Ids{257}));
}

TEST(Encode, WhatIsNoUtf8IsReplacedByMaximalSubparts) {
  TestTokenizer tokenizer(byteTokenizer({}));
  const Ids replacement = {0xef, 0xbf, 0xbd};
  auto times = [&](size_t n) {
    Ids all;
    for (size_t i = 0; i < n; ++i)
      all.insert(all.end(), replacement.begin(), replacement.end());
    return all;
  };
  EXPECT_EQ(tokenizer.encode("\x80"), times(1));
  EXPECT_EQ(tokenizer.encode("\xc0\xaf"), times(2));                         // overlong
  EXPECT_EQ(tokenizer.encode("\xed\xa0\x80"), times(3));                     // a surrogate
  EXPECT_EQ(tokenizer.encode("\xf0\x9f\x98"), times(1));                     // cut short
  EXPECT_EQ(tokenizer.encode("\xf4\x90\x80\x80"), times(4));                 // above U+10FFFF
  EXPECT_EQ(tokenizer.encode("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"), times(4)); // Unicode 3.9
}

TEST(Encode, UnknownCharactersBecomeBytesOrUnknown) {
  auto spec = characterTokenizer({});
  const int32_t mark = idOf(spec, kMark);
  const int32_t byte0 = idOf(spec, "<0x00>");
  EXPECT_EQ(TestTokenizer(spec).encode("\xc3\xa9"), (Ids{mark, byte0 + 0xc3, byte0 + 0xa9}));
  spec.byteFallback = false;
  EXPECT_EQ(TestTokenizer(spec).encode("A\xc3\xa9z"), (Ids{mark, 0, idOf(spec, "z")}));
  spec.fuseUnknown = false;
  EXPECT_EQ(TestTokenizer(spec).encode("A\xc3\xa9z"), (Ids{mark, 0, 0, idOf(spec, "z")}));
}

TEST(Encode, ScoresOrderMergesWhereThereAreNone) {
  auto spec = characterTokenizer({});
  auto add = [&](const char *text, float score) {
    model::Token token;
    token.bytes = text;
    token.score = score;
    spec.tokens.push_back(token);
  };
  add("ab", -2);
  add("bc", -1);
  EXPECT_EQ(TestTokenizer(spec).encode("abc"),
            (Ids{idOf(spec, kMark), idOf(spec, "a"), idOf(spec, "bc")}));
  spec.tokens.back().score = -3;
  EXPECT_EQ(TestTokenizer(spec).encode("abc"),
            (Ids{idOf(spec, kMark), idOf(spec, "ab"), idOf(spec, "c")}));
}

TEST(Encode, EachStretchBetweenAddedTokensIsNormalisedAlone) {
  auto spec = characterTokenizer({{kMark, "a"}});
  const int32_t token = addToken(spec, special("<s>"));
  const int32_t marked = idOf(spec, "\xe2\x96\x81"
                                    "a");
  EXPECT_EQ(TestTokenizer(spec).encode("a<s>a"), (Ids{marked, token, marked}));
}

TEST(Encode, MetaspaceFirstMarksTheStartOfTheTextOnly) {
  auto spec = characterTokenizer({{kMark, "a"}});
  const int32_t token = addToken(spec, special("<s>"));
  spec.normalizer.clear();
  model::PreTokenizerStep step;
  step.kind = model::PreTokenizerStep::Kind::Metaspace;
  step.prepend = model::PrependScheme::First;
  spec.preTokenizer = {step};
  const int32_t marked = idOf(spec, "\xe2\x96\x81"
                                    "a");
  const int32_t bare = idOf(spec, "a");
  EXPECT_EQ(TestTokenizer(spec).encode("a<s>a a"), (Ids{marked, token, bare, marked}));
  EXPECT_EQ(TestTokenizer(spec).encode("<s>a"), (Ids{token, bare}));
}

TEST(Encode, SpecialTokensAreTextWhereTheyAreNotToBeRead) {
  auto spec = byteTokenizer({});
  const int32_t token = addToken(spec, special("<s>"));
  model::AddedToken plain;
  plain.content = "<t>";
  const int32_t other = addToken(spec, plain);
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("<s><t>", LLMC_ENCODE_PARSE_SPECIAL), (Ids{token, other}));
  EXPECT_EQ(tokenizer.encode("<s><t>", 0), (Ids{'<', 's', '>', other}));
}

TEST(Encode, AddedTokensAreFoundLeftmostAndLongest) {
  auto spec = byteTokenizer({});
  const int32_t one = addToken(spec, special("ab"));
  const int32_t longer = addToken(spec, special("abc"));
  const int32_t later = addToken(spec, special("bcde"));
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("abcde"), (Ids{longer, 'd', 'e'}));
  EXPECT_EQ(tokenizer.encode("xbcde"), (Ids{'x', later}));
  EXPECT_EQ(tokenizer.encode("abd"), (Ids{one, 'd'}));
}

TEST(Encode, AddedTokensTakeWhiteSpaceAlongAndStandAlone) {
  auto spec = byteTokenizer({});
  model::AddedToken left = special("<l>");
  left.lstrip = true;
  model::AddedToken right = special("<r>");
  right.rstrip = true;
  model::AddedToken word = special("word");
  word.singleWord = true;
  const int32_t leftId = addToken(spec, left);
  const int32_t rightId = addToken(spec, right);
  const int32_t wordId = addToken(spec, word);
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("a \n\xe3\x80\x80<l> b"), (Ids{'a', leftId, ' ', 'b'}));
  EXPECT_EQ(tokenizer.encode("a <r> \t b"), (Ids{'a', ' ', rightId, 'b'}));
  EXPECT_EQ(tokenizer.encode("<r>  <l>"), (Ids{rightId, leftId}));
  EXPECT_EQ(tokenizer.encode("word!"), (Ids{wordId, '!'}));
  EXPECT_EQ(tokenizer.encode("swor"), (Ids{'s', 'w', 'o', 'r'}));
  EXPECT_EQ(tokenizer.encode("words"), (Ids{'w', 'o', 'r', 'd', 's'}));
  EXPECT_EQ(tokenizer.encode("\xc3\xa9word").back(), 'd');
}

TEST(Encode, NormalFormsAndTheirOrderOfMarks) {
  auto spec = byteTokenizer({});
  auto encoded = [&](model::NormalizerStep::Kind kind, const char *text) {
    spec.normalizer = {{kind, {}, ""}};
    TestTokenizer tokenizer(spec);
    return tokenizer.decode(tokenizer.encode(text));
  };
  using Kind = model::NormalizerStep::Kind;
  EXPECT_EQ(encoded(Kind::NFC, "e\u0301A\u030a"), "\u00e9\u00c5");
  EXPECT_EQ(encoded(Kind::NFD, "\u00e9x"), "e\u0301x");
  EXPECT_EQ(encoded(Kind::NFKC, "\ufb01\u2460\u338f"), "fi1kg");
  EXPECT_EQ(encoded(Kind::NFKD, "\u1e9b\u0323"), "s\u0323\u0307");
  EXPECT_EQ(encoded(Kind::NFC, "q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(encoded(Kind::NFC, "\u1100\u1161\u11a8"), "\uac01");
}

// Not a measurement: what would take hours if it were quadratic ends.
TEST(Encode, AMegabyteOfOneCharacterEnds) {
  auto spec = byteTokenizer({{"a", "a"}, {"aa", "aa"}, {"\xcc", "\x81"}});
  spec.normalizer = {{model::NormalizerStep::Kind::NFC, {}, ""}};
  addToken(spec, special("aaaaaaaab"));
  TestTokenizer tokenizer(spec);
  std::string marks; // classes 230 and 220 in turn: all have to move
  for (int i = 0; i < 250000; ++i)
    marks += "\u0301\u0323";
  for (const std::string &text : {std::string(1 << 20, 'a'), std::string(1 << 20, ' '),
                                  std::string(1 << 20, '\n'), marks, std::string(1 << 20, '\xff')})
    EXPECT_FALSE(tokenizer.encode(text).empty());
  auto characters = characterTokenizer({{"a", "a"}, {"aa", "aa"}});
  EXPECT_EQ(TestTokenizer(characters).encode(std::string(1 << 20, 'a')).size(), (1u << 18) + 1);
}

TEST(Encode, APatternThatRunsAwayIsAnErrorSoon) {
  auto spec = byteTokenizer({});
  model::PreTokenizerStep split;
  split.pattern = {"(a+)+$|(?:a|aa)+b", true};
  spec.preTokenizer.insert(spec.preTokenizer.begin(), split);
  std::string line;
  EXPECT_EQ(TestTokenizer(spec).tryEncode(std::string(64, 'a') + "c", line), LLMC_INVALID_ARGUMENT);
  EXPECT_NE(line.find("found a pattern in the tokenizer that takes more steps"), std::string::npos)
      << line;
}

TEST(Encode, SplitBehaviours) {
  const struct {
    model::SplitBehavior behavior;
    bool invert;
    std::vector<std::string> words;
  } cases[] = {
      {model::SplitBehavior::Removed, false, {"a", "b"}},
      {model::SplitBehavior::Isolated, false, {"a", "-", "-", "b", "-"}},
      {model::SplitBehavior::MergedWithPrevious, false, {"a-", "-", "b-"}},
      {model::SplitBehavior::MergedWithNext, false, {"a", "-", "-b", "-"}},
      {model::SplitBehavior::Contiguous, false, {"a", "--", "b", "-"}},
      {model::SplitBehavior::Removed, true, {"-", "-", "-"}},
  };
  for (const auto &one : cases) {
    // Every pair merges, so tokens are words.
    auto spec = byteTokenizer({{"a", "-"}, {"-", "-"}, {"b", "-"}, {"-", "b"}, {"-", "-b"}});
    model::PreTokenizerStep split;
    split.pattern = {"-", false};
    split.behavior = one.behavior;
    split.invert = one.invert;
    spec.preTokenizer = {split, spec.preTokenizer.back()};
    TestTokenizer tokenizer(spec);
    std::vector<std::string> words;
    for (int32_t id : tokenizer.encode("a--b-"))
      words.push_back(tokenizer.decode({id}));
    EXPECT_EQ(words, one.words) << static_cast<int>(one.behavior) << one.invert;
  }
}

TEST(Encode, StepsBehindTheAlphabetSeeItsCharacters) {
  // Falcon's order: bytes first, then digits. Byte 0xb2 is the character U+00B2 there, a number.
  auto spec = byteTokenizer({{"\xc3", "\xb2"}});
  model::PreTokenizerStep digits;
  digits.pattern = {R"(\p{N})", true};
  EXPECT_EQ(TestTokenizer(spec).encode("\xc3\xb2"), (Ids{256}));
  spec.preTokenizer.push_back(digits);
  EXPECT_EQ(TestTokenizer(spec).encode("\xc3\xb2"), (Ids{0xc3, 0xb2}));
}

TEST(Encode, WhatSurroundsATextIsPutThereOnRequest) {
  auto spec = byteTokenizer({});
  const int32_t bos = addToken(spec, special("<s>"));
  const int32_t eos = addToken(spec, special("</s>"));
  spec.prefix = {bos};
  spec.suffix = {eos};
  TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("a"), (Ids{bos, 'a', eos}));
  EXPECT_EQ(tokenizer.encode("", LLMC_ENCODE_ADD_SPECIAL), (Ids{bos, eos}));
  EXPECT_EQ(tokenizer.encode("a", 0), (Ids{'a'}));
}

} // namespace
} // namespace llmc::test
