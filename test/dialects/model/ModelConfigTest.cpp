// SPDX-License-Identifier: Apache-2.0
#include "TinyConfig.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>

using namespace llmc::model;

TEST(Validate, AcceptsTheTinyConfig) { EXPECT_TRUE(validate(tinyConfig()).empty()); }

TEST(Validate, PointsAtBothSidesOfAContradiction) {
  ModelConfig config = tinyConfig();
  config.layers[1].numHeads = 3;
  config.layers[1].numKVHeads = 2;
  std::vector<ConfigProblem> problems = validate(config);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].place, "/layers/1/num_heads");
  EXPECT_EQ(problems[0].text, "found 3 query heads, expected a multiple of the 2 key/value heads");
  EXPECT_EQ(problems[0].otherPlace, "/layers/1/num_kv_heads");
}

struct Fault {
  const char *place;
  std::function<void(ModelConfig &)> plant;
};

static std::ostream &operator<<(std::ostream &out, const Fault &fault) {
  return out << fault.place;
}

class ValidateRefuses : public testing::TestWithParam<Fault> {};

TEST_P(ValidateRefuses, Fault) {
  ModelConfig config = tinyConfig();
  GetParam().plant(config);
  std::vector<ConfigProblem> problems = validate(config);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].place, GetParam().place);
  EXPECT_NE(problems[0].text.find("found "), std::string::npos);
  EXPECT_NE(problems[0].text.find("expected "), std::string::npos);
}

static const Fault faults[] = {
    {"/hidden_size", [](ModelConfig &c) { c.hiddenSize = 0; }},
    {"/hidden_size", [](ModelConfig &c) { c.hiddenSize = std::numeric_limits<int64_t>::max(); }},
    {"/intermediate_size", [](ModelConfig &c) { c.intermediateSize = -4; }},
    {"/vocab_size", [](ModelConfig &c) { c.vocabSize = int64_t(1) << 40; }},
    {"/max_positions", [](ModelConfig &c) { c.maxPositions = 0; }},
    {"/layers", [](ModelConfig &c) { c.layers.clear(); }},
    {"/layers", [](ModelConfig &c) { c.layers.resize(5000, c.layers[0]); }},
    {"/layers/0/num_heads", [](ModelConfig &c) { c.layers[0].numHeads = 0; }},
    {"/layers/1/num_kv_heads", [](ModelConfig &c) { c.layers[1].numKVHeads = 0; }},
    {"/layers/0/head_dim",
     [](ModelConfig &c) { c.layers[0].headDim = std::numeric_limits<int64_t>::min(); }},
    {"/layers/0/num_heads",
     [](ModelConfig &c) {
       c.layers[0].numHeads = c.layers[0].numKVHeads = maxWidth;
       c.layers[0].headDim = maxWidth;
     }},
    {"/layers/0/sliding_window", [](ModelConfig &c) { c.layers[0].slidingWindow = -1; }},
    {"/layers/0/attention_scale", [](ModelConfig &c) { c.layers[0].attentionScale = 0; }},
    {"/norm/epsilon", [](ModelConfig &c) { c.norm.epsilon = std::nan(""); }},
    {"/norm/epsilon", [](ModelConfig &c) { c.norm.epsilon = 1e-300; }},
    {"/layers/0/qk_norm_epsilon",
     [](ModelConfig &c) {
       c.layers[0].qkNorm = true;
       c.layers[0].qkNormEpsilon = -1;
     }},
    {"/rope/rotary_dims", [](ModelConfig &c) { c.rope.rotaryDims = 5; }},
    {"/rope/rotary_dims", [](ModelConfig &c) { c.rope.rotaryDims = 12; }},
    {"/rope/theta", [](ModelConfig &c) { c.rope.theta = -1; }},
    {"/rope/factor",
     [](ModelConfig &c) {
       c.rope.kind = RopeKind::Linear;
       c.rope.factor = 0.5;
     }},
    {"/rope/original_max_positions", [](ModelConfig &c) { c.rope.kind = RopeKind::Yarn; }},
    {"/rope/frequency_divisors",
     [](ModelConfig &c) {
       c.rope.frequencyDivisors = {1, 1};
     }},
    {"/rope/frequency_divisors",
     [](ModelConfig &c) {
       c.rope.kind = RopeKind::Yarn;
       c.rope.originalMaxPositions = 32;
       c.rope.frequencyDivisors.assign(static_cast<size_t>(c.rope.rotaryDims / 2), 1);
     }},
    {"/rope/frequency_divisors/1",
     [](ModelConfig &c) {
       c.rope.frequencyDivisors.assign(static_cast<size_t>(c.rope.rotaryDims / 2), 1);
       c.rope.frequencyDivisors[1] = 0;
     }},
    {"/rope/high_freq_factor",
     [](ModelConfig &c) {
       c.rope.kind = RopeKind::Llama3;
       c.rope.originalMaxPositions = 32;
       c.rope.highFreqFactor = 1;
     }},
    {"/eos_ids", [](ModelConfig &c) { c.eosIds = {67}; }},
    {"/bos_ids", [](ModelConfig &c) { c.bosIds = {-1}; }},
    {"/hidden_size",
     [](ModelConfig &c) {
       c.hiddenSize = c.intermediateSize = maxWidth;
       c.layers.resize(4096, c.layers[0]);
     }},
};

INSTANTIATE_TEST_SUITE_P(Faults, ValidateRefuses, testing::ValuesIn(faults));

TEST(PositionLimit, IsTheOriginalContextOfDynamicRopeOnly) {
  ModelConfig config = tinyConfig();
  config.rope.originalMaxPositions = 16;
  EXPECT_EQ(config.positionLimit(), 64);
  config.rope.kind = RopeKind::Dynamic;
  EXPECT_EQ(config.positionLimit(), 16);
}

TEST(CanonicalWeights, ListsExactlyTheTensorsOfAPlainModel) {
  std::vector<std::string> names;
  for (const WeightSpec &spec : canonicalWeights(tinyConfig(1)))
    names.push_back(spec.name);
  EXPECT_EQ(names, (std::vector<std::string>{"embed", "layers.0.attn_norm", "layers.0.q",
                                             "layers.0.k", "layers.0.v", "layers.0.o",
                                             "layers.0.mlp_norm", "layers.0.gate", "layers.0.up",
                                             "layers.0.down", "final_norm", "lm_head"}));
}

TEST(CanonicalWeights, GivesShapesAsOutByIn) {
  ModelConfig config = tinyConfig(1);
  config.layers[0].qkNorm = config.layers[0].qkvBias = config.layers[0].outBias =
      config.layers[0].mlpBias = true;
  config.tieWordEmbeddings = true;
  std::vector<std::pair<std::string, std::vector<int64_t>>> found;
  for (const WeightSpec &spec : canonicalWeights(config))
    found.push_back({spec.name, spec.shape});
  std::vector<std::pair<std::string, std::vector<int64_t>>> expected = {
      {"embed", {67, 24}},          {"layers.0.attn_norm", {24}}, {"layers.0.q", {30, 24}},
      {"layers.0.k", {10, 24}},     {"layers.0.v", {10, 24}},     {"layers.0.q_bias", {30}},
      {"layers.0.k_bias", {10}},    {"layers.0.v_bias", {10}},    {"layers.0.q_norm", {10}},
      {"layers.0.k_norm", {10}},    {"layers.0.o", {24, 30}},     {"layers.0.o_bias", {24}},
      {"layers.0.mlp_norm", {24}},  {"layers.0.gate", {40, 24}},  {"layers.0.up", {40, 24}},
      {"layers.0.gate_bias", {40}}, {"layers.0.up_bias", {40}},   {"layers.0.down", {24, 40}},
      {"layers.0.down_bias", {24}}, {"final_norm", {24}},
  };
  EXPECT_EQ(found, expected);
}
