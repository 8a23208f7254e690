// SPDX-License-Identifier: Apache-2.0
//
// What each op computes, against numbers worked out by hand.
#include "dialects/llm/reference/Math.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace llmc::reference {
namespace {

void expectNear(const std::vector<float> &found, const std::vector<double> &expected,
                double bound = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], bound) << "at " << i;
}

TEST(ReferenceMath, gatherRowsTakesRowsInOrder) {
  Tensor x(3, 2, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(gatherRows(x, {2, 0, 2}).values, (std::vector<float>{5, 6, 1, 2, 5, 6}));
}

// mean(9 + 16) = 12.5, and with eps = 12.5 the root is 5.
TEST(ReferenceMath, rmsNormDividesByTheRootOfMeanSquarePlusEps) {
  expectNear(rmsNorm(Tensor(1, 2, {3, 4}), Tensor(1, 2, {1, 2}), 12.5f, 1).values, {0.6, 1.6});
}

TEST(ReferenceMath, rmsNormOfGroupsSharesTheWeight) {
  expectNear(rmsNorm(Tensor(1, 4, {3, 4, 6, 8}), Tensor(1, 2, {1, 2}), 12.5f, 2).values,
             {0.6, 1.6, 6 / std::sqrt(62.5), 16 / std::sqrt(62.5)});
}

/// A row of one group: the given values, then zeros.
Tensor group(std::vector<float> values) {
  values.resize(32);
  return Tensor(1, 32, std::move(values));
}

// The largest is 254: a scale of 2. 5 / 2 and 7 / 2 lie between two codes: 2 and 4 are even.
TEST(ReferenceMath, quantizeRoundsToTheNearestEvenCode) {
  EXPECT_EQ(quantize(group({254, 1, 3, 5, 7, -1, -3, 100.9f, 101.1f, -253.5f})).values,
            group({254, 0, 4, 4, 8, 0, -4, 100, 102, -254}).values);
}

// Signs do not matter to the scale, and each group has its own.
TEST(ReferenceMath, quantizeScalesEachGroup) {
  std::vector<float> values(64), expected(64);
  values[0] = -127, values[1] = 0.4f, values[31] = 0.6f;
  expected[0] = -127, expected[31] = 1;
  values[32] = 12.7f, values[33] = 0.04f, values[63] = 0.06f;
  const float scale = 12.7f / 127.0f;
  expected[32] = scale * 127.0f, expected[63] = scale;
  EXPECT_EQ(quantize(Tensor(1, 64, values)).values, expected);
}

// A third is no f32: scale, its inverse and the product are each rounded.
TEST(ReferenceMath, quantizeRoundsEachOperationToF32) {
  const float largest = 1.0f / 3.0f, scale = largest / 127.0f, inverse = 1.0f / scale;
  for (float value : {0.1f, 0.2f, 0.123456f, -0.3f}) {
    const float scaled = value * inverse;
    EXPECT_EQ(quantize(group({largest, value})).values[1], scale * std::nearbyint(scaled)) << value;
  }
}

// Below 2^-126 1 / scale could be infinite, and infinity times 0 is no number.
TEST(ReferenceMath, quantizeHasNoStepBelowTheLeastNormalNumber) {
  const float least = std::numeric_limits<float>::min();
  EXPECT_EQ(quantize(group({})).values, group({}).values);
  EXPECT_EQ(quantize(group({8.4f * least, 0, -2.5f * least, 0.4f * least})).values,
            group({8 * least, 0, -2 * least}).values);
  EXPECT_EQ(quantize(group({1e-45f})).values, group({}).values);
  const std::vector<float> small = quantize(group({2e-36f, -1e-36f})).values;
  EXPECT_NEAR(small[0], 2e-36, 1e-42);
  EXPECT_NEAR(small[1], -1e-36, 2e-38);
}

TEST(ReferenceMath, linearIsTheTransposedProductPlusBias) {
  Tensor x(2, 3, {1, 2, 3, 0, 1, 0}), weight(2, 3, {1, 0, -1, 2, 1, 0}), bias(1, 2, {10, 20});
  EXPECT_EQ(linear(x, weight, nullptr).values, (std::vector<float>{-2, 4, 0, 1}));
  EXPECT_EQ(linear(x, weight, &bias).values, (std::vector<float>{8, 24, 10, 21}));
}

// 2^24 + 1 - 2^24: a sum in f32 would lose the 1.
TEST(ReferenceMath, dotProductsDoNotDependOnTheOrderOfTheSum) {
  Tensor weight(1, 3, {1, 1, 1});
  EXPECT_EQ(linear(Tensor(1, 3, {16777216, 1, -16777216}), weight, nullptr).values[0], 1);
  EXPECT_EQ(linear(Tensor(1, 3, {1, 16777216, -16777216}), weight, nullptr).values[0], 1);
}

TEST(ReferenceMath, columnsAndAdd) {
  Tensor x(2, 3, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(columns(x, 1, 2).values, (std::vector<float>{2, 3, 5, 6}));
  EXPECT_EQ(add(x, x).values, (std::vector<float>{2, 4, 6, 8, 10, 12}));
}

TEST(ReferenceMath, activations) {
  EXPECT_NEAR(activate(Activation::SiLU, 1.0), 0.7310585786300049, 1e-12);
  EXPECT_NEAR(activate(Activation::SiLU, -2.0), -0.2384058440442351, 1e-12);
  EXPECT_NEAR(activate(Activation::GELUTanh, 1.0), 0.8411919906082768, 1e-12);
  EXPECT_NEAR(activate(Activation::GELUTanh, -1.0), -0.15880800939172324, 1e-12);
  EXPECT_NEAR(activate(Activation::GELUErf, 1.0), 0.8413447460685429, 1e-12);
  EXPECT_NEAR(activate(Activation::GELUErf, -1.0), -0.15865525393145707, 1e-12);
  EXPECT_EQ(activate(Activation::ReLU, -3.0), 0);
  EXPECT_EQ(activate(Activation::ReLU, 3.0), 3);
}

TEST(ReferenceMath, activateMultipliesByUp) {
  expectNear(activate(Activation::SiLU, Tensor(1, 2, {1, -2}), Tensor(1, 2, {2, -10})).values,
             {1.4621171573, 2.3840584404});
}

TEST(ReferenceMath, ropeTableHoldsCosinesThenSines) {
  std::vector<float> frequencies = {1.0f, 0.5f}, row(4);
  ropeTableRow(frequencies.data(), 2, 2.0f, 3, row.data());
  expectNear(row, {2 * std::cos(3.0), 2 * std::cos(1.5), 2 * std::sin(3.0), 2 * std::sin(1.5)});
}

// At position 100,000 the angle itself is rounded to f32: 100000 * 0.7f is not 70000.
TEST(ReferenceMath, ropeAnglesAreProductsInF32) {
  float frequency = 0.7f, row[2];
  ropeTableRow(&frequency, 1, 1.0f, 100000, row);
  EXPECT_EQ(row[0], float(std::cos(double(100000.0f * 0.7f))));
}

// A quarter turn of the pair (0, 2), none of (1, 3).
TEST(ReferenceMath, ropeRotatesHalfPairs) {
  Tensor table(1, 4, {0, 1, 1, 0});
  EXPECT_EQ(rope(Tensor(1, 4, {1, 2, 3, 4}), table, 1).values, (std::vector<float>{-3, 2, 1, 4}));
}

TEST(ReferenceMath, ropeTreatsHeadsAlike) {
  Tensor table(1, 2, {0, 1});
  EXPECT_EQ(rope(Tensor(1, 4, {1, 2, 3, 4}), table, 2).values, (std::vector<float>{-2, 1, -4, 3}));
}

// Scores ln 3 and 0: weights 3/4 and 1/4.
TEST(ReferenceMath, attentionMixesValuesBySoftmax) {
  std::vector<float> keys[] = {{1, 0}, {0, 1}}, values[] = {{10}, {20}};
  VisibleKeys seen{{keys[0].data(), keys[1].data()}, {values[0].data(), values[1].data()}, 1, 2, 1};
  std::vector<float> query = {float(std::log(3.0)) / 2, 0, 0, 0}, result(2);
  attention(query.data(), seen, 2, 2.0f, result.data());
  expectNear(result, {12.5, 15}, 1e-5);
}

TEST(ReferenceMath, attentionSurvivesLargeScores) {
  std::vector<float> key = {1e4f}, low = {-1e4f}, first = {1}, second = {2};
  VisibleKeys seen{{key.data(), low.data()}, {first.data(), second.data()}, 1, 1, 1};
  float query = 1, result = 0;
  attention(&query, seen, 1, 1.0f, &result);
  EXPECT_EQ(result, 1);
}

// Four query heads on two key/value heads: 0 and 1 read the first, 2 and 3 the second.
TEST(ReferenceMath, attentionGroupsNeighbouringQueryHeads) {
  std::vector<float> key = {0, 0}, value = {10, 20};
  VisibleKeys seen{{key.data()}, {value.data()}, 2, 1, 1};
  std::vector<float> query(4), result(4);
  attention(query.data(), seen, 4, 1.0f, result.data());
  EXPECT_EQ(result, (std::vector<float>{10, 10, 20, 20}));
}

TEST(ReferenceMath, argMaxTakesTheLowestOnTies) {
  std::vector<float> values = {1, 3, 3, 2};
  EXPECT_EQ(argMax(values.data(), 4), 1);
}

// Sequence 0: both drafts are right. 1: the first is wrong. 2: no outputs. 3: nothing drafted.
TEST(ReferenceMath, speculativeVerifyCountsTheAcceptedPrefix) {
  auto oneHot = [](std::vector<int32_t> winners) {
    Tensor logits(int64_t(winners.size()), 4);
    for (size_t i = 0; i < winners.size(); ++i)
      logits.line(int64_t(i))[winners[i]] = 1;
    return logits;
  };
  Tensor logits = oneHot({1, 2, 3, 1, 2, 0});
  std::vector<int32_t> tokens = {0, 1, 2, 0, 3, 2};
  Tensor result = speculativeVerify(logits, tokens, {0, 3, 5, 5, 6});
  EXPECT_EQ(result.integers, (std::vector<int32_t>{2, 3, 0, 1, 0, -1, 0, 0}));
}

} // namespace
} // namespace llmc::reference
