// SPDX-License-Identifier: Apache-2.0
// Steps over sequences: the same bits however tokens are cut into steps and mixed, and a clear
// refusal where they do not fit.
#include "test/runtime/engine/Support.h"
#include <cmath>
#include <limits>

namespace llmc::test {
namespace {

using Bits = std::vector<uint32_t>;

llmc_session_options optionsFor(uint32_t tokens, uint32_t sequences, uint32_t rows,
                                uint32_t outputs) {
  return {sizeof(llmc_session_options), tokens, sequences, rows, outputs, 0};
}

// Logits at every position of `tokens`, one sequence alone, whole.
std::vector<Bits> wholeLogits(const std::vector<int32_t> &tokens) {
  const uint32_t count = static_cast<uint32_t>(tokens.size());
  Bench bench({}, optionsFor(count, 1, count, count));
  std::vector<Bits> logits;
  EXPECT_EQ(bench.step({rowsOf(bench.sequence(), tokens, LLMC_OUTPUTS_ALL)}), LLMC_OK);
  for (uint32_t row = 0; row < bench.result.n_outputs; ++row)
    logits.push_back(bench.logits(row));
  return logits;
}

TEST(Step, LogitsAreNumbersThatDependOnTheContext) {
  const std::vector<Bits> logits = wholeLogits(someTokens(150));
  ASSERT_EQ(logits.size(), 150u);
  for (const Bits &row : logits)
    for (uint32_t bits : row) {
      float value;
      memcpy(&value, &bits, sizeof value);
      ASSERT_TRUE(std::isfinite(value)); // junk in KV pages is NaN
    }
  std::vector<int32_t> other = someTokens(150);
  other[3] = (other[3] + 1) % 40;
  EXPECT_NE(wholeLogits(other).back(), logits.back());
}

TEST(Step, PiecesGiveTheSameBitsAsTheWhole) {
  const std::vector<int32_t> tokens = someTokens(150);
  const std::vector<Bits> expected = wholeLogits(tokens);
  for (uint32_t piece : {1u, 7u, 64u}) {
    Bench bench({}, optionsFor(150, 1, 64, 64));
    llmc_sequence *sequence = bench.sequence();
    for (uint32_t begin = 0; begin < 150; begin += piece) {
      const std::vector<int32_t> part = slice(tokens, begin, std::min(begin + piece, 150u));
      ASSERT_EQ(bench.step({rowsOf(sequence, part, LLMC_OUTPUTS_ALL)}), LLMC_OK)
          << bench.error.message;
      for (uint32_t row = 0; row < part.size(); ++row)
        ASSERT_EQ(bench.logits(row), expected[begin + row]) << "position " << begin + row;
    }
  }
}

TEST(Step, PrefillCutsIntoStepsOfMaxRows) {
  const std::vector<int32_t> tokens = someTokens(150);
  Bench bench({}, optionsFor(150, 1, 13, 1));
  llmc_sequence *sequence = bench.sequence();
  ASSERT_EQ(bench.prefill(sequence, tokens), LLMC_OK) << bench.error.message;
  EXPECT_EQ(llmc_sequence_length(sequence), 150u);
  EXPECT_EQ(bench.logits(), wholeLogits(tokens).back());
}

TEST(Step, ThreadsAndDelaysGiveTheSameBits) {
  const std::vector<int32_t> tokens = someTokens(150);
  const Bits expected = wholeLogits(tokens).back();
  for (uint32_t threads : {1u, 2u, 4u})
    for (uint32_t repeat = 0; repeat < 15; ++repeat) {
      Bench bench({threads, nullptr, demo_delay_llmc_query}, optionsFor(150, 1, 50, 1));
      ASSERT_EQ(bench.prefill(bench.sequence(), tokens), LLMC_OK);
      ASSERT_EQ(bench.logits(), expected) << threads << " threads";
    }
}

TEST(Step, MixedStepsGiveTheSameBitsAsEachSequenceAlone) {
  Bench bench({2}, optionsFor(1000, 4, 100, 8));
  const uint32_t lengths[4] = {3, 70, 1, 129};
  std::vector<int32_t> texts[4];
  llmc_sequence *sequences[4];
  for (uint32_t i = 0; i < 4; ++i) {
    texts[i] = someTokens(lengths[i] + 20, i + 1);
    sequences[i] = bench.sequence();
    ASSERT_EQ(bench.prefill(sequences[i], slice(texts[i], 0, lengths[i])), LLMC_OK);
  }
  for (uint32_t turn = 0; turn < 10; ++turn) {
    std::vector<std::vector<int32_t>> parts;
    std::vector<llmc_rows> rows;
    for (uint32_t i = 0; i < 4;
         ++i) { // sequence 1 takes two tokens a step: a mix of decode and prefill
      const uint32_t from = llmc_sequence_length(sequences[i]);
      parts.push_back(slice(texts[i], from, from + (i == 1 ? 2 : 1)));
    }
    for (uint32_t i = 0; i < 4; ++i)
      rows.push_back(rowsOf(sequences[i], parts[i]));
    ASSERT_EQ(bench.step(rows), LLMC_OK) << bench.error.message;
    EXPECT_EQ(bench.result.graph, static_cast<uint32_t>(LLMC_STEP_PREFILL));
  }
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t length = llmc_sequence_length(sequences[i]);
    EXPECT_EQ(bench.logits(i), wholeLogits(slice(texts[i], 0, length)).back()) << "sequence " << i;
  }
}

TEST(Step, TruncatedSequenceContinuesAsIfNothingHadBeen) {
  const std::vector<int32_t> tokens = someTokens(400);
  Bench bench({}, optionsFor(600, 2, 300, 1));
  llmc_sequence *first = bench.sequence(), *second = bench.sequence();
  ASSERT_EQ(bench.prefill(first, tokens), LLMC_OK);
  ASSERT_EQ(llmc_sequence_truncate(first, 37, &bench.error), LLMC_OK);
  ASSERT_EQ(bench.prefill(second, someTokens(300, 9)), LLMC_OK); // takes over the freed pages
  const std::vector<int32_t> rest = slice(tokens, 37, 150);
  ASSERT_EQ(bench.prefill(first, rest), LLMC_OK);
  EXPECT_EQ(bench.logits(), wholeLogits(slice(tokens, 0, 150)).back());
  EXPECT_EQ(llmc_sequence_truncate(first, 151, &bench.error), LLMC_INVALID_ARGUMENT);
  EXPECT_STREQ(bench.error.message,
               "sequence truncate: error: found length 151, expected at most the sequence's 150");
}

TEST(Step, GraphFollowsTheRowsAndCanBeForced) {
  Bench bench({}, optionsFor(500, 2, 64, 16));
  llmc_sequence *a = bench.sequence(), *b = bench.sequence();
  const std::vector<int32_t> one = {5}, three = {5, 6, 7}, nine = someTokens(9);
  ASSERT_EQ(bench.step({rowsOf(a, one), rowsOf(b, one)}), LLMC_OK);
  EXPECT_EQ(bench.result.graph, static_cast<uint32_t>(LLMC_STEP_DECODE));
  EXPECT_EQ(bench.result.accepted, nullptr);
  ASSERT_EQ(bench.step({rowsOf(a, three), rowsOf(b, three)}), LLMC_OK);
  EXPECT_EQ(bench.result.graph, static_cast<uint32_t>(LLMC_STEP_VERIFY));
  ASSERT_EQ(bench.step({rowsOf(a, nine), rowsOf(b, three)}), LLMC_OK);
  EXPECT_EQ(bench.result.graph, static_cast<uint32_t>(LLMC_STEP_PREFILL));
  ASSERT_EQ(bench.step({rowsOf(a, one)}, LLMC_STEP_PREFILL), LLMC_OK);
  EXPECT_EQ(bench.result.graph, static_cast<uint32_t>(LLMC_STEP_PREFILL));
  EXPECT_EQ(bench.step({rowsOf(a, one)}, 9), LLMC_INVALID_ARGUMENT);
}

TEST(Step, VerifyAcceptsWhatGreedyDecodingGives) {
  Bench bench({}, optionsFor(500, 1, 64, 16));
  llmc_sequence *sequence = bench.sequence();
  const std::vector<int32_t> prompt = someTokens(20);
  ASSERT_EQ(bench.prefill(sequence, prompt), LLMC_OK);
  std::vector<int32_t> greedy = {llmc_argmax(bench.result.logits, kVocabulary)};
  while (greedy.size() < 5) {
    const std::vector<int32_t> next = {greedy.back()};
    ASSERT_EQ(bench.step({rowsOf(sequence, next)}), LLMC_OK);
    greedy.push_back(llmc_argmax(bench.result.logits, kVocabulary));
  }
  for (uint32_t good = 0; good < 4; ++good) { // the draft goes wrong after `good` tokens
    ASSERT_EQ(llmc_sequence_truncate(sequence, 20, nullptr), LLMC_OK);
    std::vector<int32_t> draft = slice(greedy, 0, 4);
    if (good < 3)
      draft[good + 1] = (draft[good + 1] + 1) % 40;
    ASSERT_EQ(bench.step({rowsOf(sequence, draft, LLMC_OUTPUTS_ALL)}), LLMC_OK);
    ASSERT_NE(bench.result.accepted, nullptr);
    EXPECT_EQ(bench.result.accepted[0], static_cast<int32_t>(good));
    EXPECT_EQ(bench.result.accepted[1], greedy[good + 1]);
  }
}

TEST(Step, OutputsAreThoseAskedFor) {
  const std::vector<int32_t> tokens = someTokens(30);
  const std::vector<Bits> expected = wholeLogits(tokens);
  Bench bench({}, optionsFor(200, 3, 90, 8));
  const uint8_t marks[30] = {0, 1, 0, 0, 1};
  llmc_rows marked = rowsOf(bench.sequence(), tokens, LLMC_OUTPUTS_MARKED);
  marked.marks = marks;
  ASSERT_EQ(bench.step({marked, rowsOf(bench.sequence(), tokens, LLMC_OUTPUTS_NONE),
                        rowsOf(bench.sequence(), tokens)}),
            LLMC_OK);
  ASSERT_EQ(bench.result.n_outputs, 3u);
  EXPECT_EQ(bench.logits(0), expected[1]);
  EXPECT_EQ(bench.logits(1), expected[4]);
  EXPECT_EQ(bench.logits(2), expected[29]);
  const std::vector<int32_t> starts(bench.result.output_starts, bench.result.output_starts + 4);
  EXPECT_EQ(starts, (std::vector<int32_t>{0, 2, 2, 3}));
}

// Each refusal: status, words of the message, and sequences as long as before.
TEST(Step, RefusalsNameWhatWasFoundAndChangeNothing) {
  Bench bench({}, optionsFor(100, 2, 64, 2));
  llmc_sequence *sequence = bench.sequence(), *other = bench.sequence();
  const std::vector<int32_t> start = someTokens(60), more = someTokens(41);
  ASSERT_EQ(bench.prefill(sequence, start), LLMC_OK);
  const auto refuse = [&](const std::vector<llmc_rows> &rows, llmc_status status,
                          const char *words) {
    EXPECT_EQ(bench.step(rows), status);
    EXPECT_NE(strstr(bench.error.message, words), nullptr) << bench.error.message;
    EXPECT_EQ(bench.error.status, status);
    EXPECT_EQ(llmc_sequence_length(sequence), 60u);
    EXPECT_EQ(llmc_sequence_length(other), 0u);
  };
  const std::vector<int32_t> outside = {1, 2, 40}, negative = {-1}, one = {1},
                             many = someTokens(65);
  refuse({rowsOf(sequence, more)}, LLMC_SESSION_FULL,
         "found 41 tokens for a session that holds 60 of 100");
  refuse({rowsOf(other, one), rowsOf(sequence, outside)}, LLMC_INVALID_ARGUMENT,
         "rows 1, token 2: error: found token id 40, expected 0 to 39");
  refuse({rowsOf(sequence, negative)}, LLMC_INVALID_ARGUMENT, "found token id -1");
  refuse({rowsOf(sequence, many)}, LLMC_INVALID_ARGUMENT, "expected at most max_rows 64");
  refuse({rowsOf(other, outside, LLMC_OUTPUTS_ALL)}, LLMC_INVALID_ARGUMENT, "token id 40");
  refuse({rowsOf(other, start, LLMC_OUTPUTS_NONE)}, LLMC_SESSION_FULL, "holds 60 of 100");
  refuse({rowsOf(other, slice(start, 0, 3), LLMC_OUTPUTS_ALL)}, LLMC_INVALID_ARGUMENT,
         "max_outputs 2");
  refuse({rowsOf(other, one), rowsOf(other, one)}, LLMC_INVALID_ARGUMENT,
         "sequence of rows 0 again");
  refuse({rowsOf(nullptr, one)}, LLMC_INVALID_ARGUMENT, "no live sequence");
  refuse({}, LLMC_INVALID_ARGUMENT, "expected 1 to max_sequences 2");
  // The room is still all there.
  EXPECT_EQ(bench.prefill(other, slice(more, 0, 40)), LLMC_OK) << bench.error.message;
  EXPECT_EQ(bench.prefill(other, one), LLMC_SESSION_FULL);
  EXPECT_EQ(llmc_sequence_release(sequence, nullptr), LLMC_OK);
  EXPECT_EQ(bench.prefill(other, start), LLMC_OK) << bench.error.message;
}

TEST(Step, SequenceIsNotLongerThanTheModelAllows) {
  Bench bench({}, optionsFor(2 * kLongest, 2, 256, 1));
  llmc_sequence *sequence = bench.sequence();
  ASSERT_EQ(bench.prefill(sequence, someTokens(kLongest)), LLMC_OK);
  const std::vector<int32_t> one = {1};
  EXPECT_EQ(bench.step({rowsOf(sequence, one)}), LLMC_SESSION_FULL);
  EXPECT_NE(strstr(bench.error.message, "expected at most 1000 in a sequence"), nullptr)
      << bench.error.message;
}

TEST(Step, PoolHoldsMaxTokensHoweverTheyAreDivided) {
  Bench bench({}, optionsFor(523, 8, 256, 8));
  std::vector<llmc_sequence *> sequences;
  for (uint32_t i = 0; i < 8; ++i)
    sequences.push_back(bench.sequence());
  for (uint32_t round = 0; round < 20; ++round) { // worst case: page boundaries passed by one token
    uint32_t left = 523;
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t share = i == 7 ? left : std::min(left - (7 - i), i == round % 8 ? 257u : 1u);
      ASSERT_EQ(bench.prefill(sequences[i], someTokens(share)), LLMC_OK) << bench.error.message;
      left -= share;
    }
    for (uint32_t i = 0; i < 8; ++i)
      ASSERT_EQ(llmc_sequence_truncate(sequences[(i * 3 + round) % 8], 0, nullptr), LLMC_OK);
  }
}

TEST(Step, SequencesRunOut) {
  Bench bench({}, optionsFor(100, 2, 10, 1));
  llmc_sequence *first = bench.sequence(), *none = nullptr;
  bench.sequence();
  EXPECT_EQ(llmc_sequence_create(bench.session, &none, &bench.error), LLMC_SESSION_FULL);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(llmc_sequence_release(first, &bench.error), LLMC_OK);
  EXPECT_EQ(llmc_sequence_release(first, &bench.error), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_sequence_create(bench.session, &none, &bench.error), LLMC_OK);
}

TEST(Step, PageSizeDoesNotShow) {
  const std::vector<int32_t> tokens = someTokens(300);
  const Bits expected = wholeLogits(tokens).back();
  for (uint32_t chunks : {1u, 2u, 16u}) {
    llmc_session_options options = optionsFor(300, 1, 70, 1);
    options.page_chunks = chunks;
    Bench bench({}, options);
    ASSERT_EQ(bench.prefill(bench.sequence(), tokens), LLMC_OK);
    EXPECT_EQ(bench.logits(), expected);
  }
}

TEST(Argmax, LowestIndexWinsTiesAndNanNever) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const float ties[] = {1, 3, 3, 2}, holes[] = {nan, -5, nan, -4}, none[] = {nan, nan},
              low[] = {-infinity, nan};
  EXPECT_EQ(llmc_argmax(ties, 4), 1);
  EXPECT_EQ(llmc_argmax(holes, 4), 3);
  EXPECT_EQ(llmc_argmax(none, 2), -1);
  EXPECT_EQ(llmc_argmax(low, 2), 0);
  EXPECT_EQ(llmc_argmax(ties, 0), -1);
}

} // namespace
} // namespace llmc::test
