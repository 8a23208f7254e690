// SPDX-License-Identifier: Apache-2.0
#include "TinyConfig.h"

#include "dialects/model/WeightSource.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::model;

static std::vector<float> readAll(const WeightSource &source, const char *name) {
  const TensorInfo *info = source.find(name);
  std::vector<float> values(static_cast<size_t>(info->rows() * info->columns()));
  EXPECT_TRUE(source.readRows(name, 0, info->rows(), values.data()).ok());
  return values;
}

static double deviation(const std::vector<float> &values, double mean) {
  double sum = 0;
  for (float value : values)
    sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST(RandomWeights, AreTheSameBitsEverywhere) {
  RandomWeightSource source(tinyConfig(), 7);
  std::vector<float> q = readAll(source, "layers.1.q");
  EXPECT_EQ(q[0], 0x1.9580ecp-2f);
  EXPECT_EQ(q[719], 0x1.a6bd46p-2f);
}

TEST(RandomWeights, DependOnSeedAndName) {
  RandomWeightSource first(tinyConfig(), 7), second(tinyConfig(), 8);
  EXPECT_NE(readAll(first, "layers.0.q"), readAll(second, "layers.0.q"));
  EXPECT_NE(readAll(first, "layers.0.k"), readAll(first, "layers.0.v"));
}

TEST(RandomWeights, DoNotDependOnThePanel) {
  RandomWeightSource source(tinyConfig(), 7);
  std::vector<float> whole = readAll(source, "embed"), row(24);
  ASSERT_TRUE(source.readRows("embed", 41, 1, row.data()).ok());
  EXPECT_EQ(row, std::vector<float>(whole.begin() + 41 * 24, whole.begin() + 42 * 24));
}

TEST(RandomWeights, HaveTheStatedSpread) {
  ModelConfig config = tinyConfig(1);
  config.hiddenSize = 400;
  RandomWeightSource source(config, 1);
  EXPECT_NEAR(deviation(readAll(source, "layers.0.gate"), 0) * 20, 1.0, 0.05); // 1/sqrt(400)
  EXPECT_NEAR(deviation(readAll(source, "lm_head"), 0) * 20, 2.0, 0.1);
  EXPECT_NEAR(deviation(readAll(source, "final_norm"), 1), 0.2, 0.03);
}

TEST(RandomWeights, RefuseRowsOutOfRangeAndUnknownNames) {
  RandomWeightSource source(tinyConfig(), 7);
  float out[24];
  Status status = source.readRows("embed", 67, 1, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "random weights: tensor 'embed': error: found a request for 1 rows from row 67, "
            "expected rows within 0 to 67");
  EXPECT_FALSE(source.readRows("embed", -1, 1, out).ok());
  EXPECT_FALSE(source.readRows("embed", 1, INT64_MAX, out).ok());
  EXPECT_FALSE(source.readRows("no_such", 0, 1, out).ok());
  EXPECT_EQ(source.find("no_such"), nullptr);
}

TEST(TensorInfo, OneDimensionIsOneRow) {
  RandomWeightSource source(tinyConfig(), 7);
  EXPECT_EQ(source.find("final_norm")->rows(), 1);
  EXPECT_EQ(source.find("final_norm")->columns(), 24);
}

TEST(Hash, TellsTensorsApartAndRepeats) {
  RandomWeightSource source(tinyConfig(), 7), again(tinyConfig(), 7);
  ASSERT_TRUE(source.hash("embed").ok());
  EXPECT_EQ(*source.hash("embed"), *again.hash("embed"));
  EXPECT_NE(*source.hash("embed"), *source.hash("lm_head"));
  EXPECT_FALSE(source.hash("no_such").ok());
}
