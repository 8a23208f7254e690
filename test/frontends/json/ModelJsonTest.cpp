// SPDX-License-Identifier: Apache-2.0
#include "frontends/json/ModelJson.h"

#include "../../dialects/model/TinyConfig.h"
#include "../Support.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::json;
using test::Json;

static Json tinyDocument() {
  return Json::parse(R"({
    "llmc_model": 1, "hidden_size": 24, "intermediate_size": 40, "vocab_size": 67, "max_positions": 64,
    "norm": {"epsilon": 1e-5}, "activation": "silu", "rope": {"theta": 10000},
    "layers": [{"repeat": 2, "num_heads": 3, "num_kv_heads": 1, "head_dim": 10}, {"num_heads": 2, "num_kv_heads": 2, "head_dim": 10, "sliding_window": 4}],
    "eos_ids": [2], "weights": {"random": 7}})");
}

static std::string errorOf(const Json &document) {
  Result<ModelDescription> read = parseModelJson(document.dump(), "m.json");
  return read ? "read" : read.error().str();
}

TEST(ModelJson, ReadsRunsOfLayersAndDefaults) {
  Result<ModelDescription> read = parseModelJson(tinyDocument().dump(), "m.json");
  ASSERT_TRUE(read.ok()) << read.error().str();
  EXPECT_EQ(read->config.numLayers(), 3);
  EXPECT_EQ(read->config.layers[1].numHeads, 3);
  EXPECT_EQ(read->config.layers[2].slidingWindow, 4);
  EXPECT_DOUBLE_EQ(read->config.layers[0].attentionScale, 0.31622776601683794);
  EXPECT_EQ(read->config.rope.rotaryDims, 10);
  EXPECT_EQ(read->weights.randomSeed, 7);
}

TEST(ModelJson, WhatIsWrittenReadsBackTheSame) {
  model::ModelConfig config = model::tinyConfig(5);
  config.activation = model::Activation::GELUErf;
  config.rope.kind = model::RopeKind::Yarn;
  config.rope.factor = 2.5;
  config.rope.originalMaxPositions = 32;
  config.rope.attentionFactor = 1.1;
  config.rope.pairing = model::RopePairing::Interleaved;
  config.layers[3].qkNorm = true;
  config.layers[3].attentionScale = 0.1;
  config.layers[4].useRope = false;
  config.bosIds = {1, 3};
  WeightsReference weights;
  weights.safetensors = "some folder";
  weights.huggingFaceNames = true;
  std::string text = writeModelJson(config, weights);
  Result<ModelDescription> read = parseModelJson(text, "m.json");
  ASSERT_TRUE(read.ok()) << read.error().str();
  EXPECT_EQ(writeModelJson(read->config, read->weights), text);
  EXPECT_EQ(read->config.rope.kind, model::RopeKind::Yarn);
  EXPECT_EQ(read->config.rope.pairing, model::RopePairing::Interleaved);
  EXPECT_EQ(read->config.rope.attentionFactor, 1.1);
  EXPECT_EQ(read->config.activation, model::Activation::GELUErf);
  EXPECT_FALSE(read->config.layers[4].useRope);
  EXPECT_TRUE(read->config.layers[3].qkNorm);
  EXPECT_EQ(read->config.layers[3].attentionScale, 0.1);
  EXPECT_TRUE(read->weights.huggingFaceNames);
  EXPECT_EQ(Json::parse(text)["layers"].size(), 3u); // three runs: 3 equal layers, 1, 1
}

TEST(ModelJson, DivisorsOfFrequenciesReadBackTheSame) {
  model::ModelConfig config = model::tinyConfig();
  EXPECT_EQ(writeModelJson(config, {"x", false, {}}).find("frequency_divisors"), std::string::npos);
  config.rope.frequencyDivisors.assign(static_cast<size_t>(config.rope.rotaryDims / 2), 1.1);
  config.rope.frequencyDivisors[0] = 8;
  std::string text = writeModelJson(config, {"x", false, {}});
  Result<ModelDescription> read = parseModelJson(text, "m.json");
  ASSERT_TRUE(read.ok()) << read.error().str();
  EXPECT_EQ(read->config.rope.frequencyDivisors, config.rope.frequencyDivisors);
  Json wrong = Json::parse(text);
  wrong["rope"]["frequency_divisors"][2] = "one";
  EXPECT_EQ(parseModelJson(wrong.dump(), "m.json").error().message,
            "m.json: /rope/frequency_divisors/2: error: found \"one\", expected a number");
}

TEST(ModelJson, UnknownKeysAreErrorsWithTheirPlace) {
  Json document = tinyDocument();
  document["rope"]["thetta"] = 5;
  EXPECT_EQ(
      errorOf(document).substr(0, 84),
      "m.json: /rope/thetta: error: found unknown key \"thetta\", expected only keys that llm");
}

TEST(ModelJson, MissingKeysSayWhatIsExpected) {
  Json document = tinyDocument();
  document.erase("vocab_size");
  EXPECT_EQ(errorOf(document),
            "m.json: /: error: found no key \"vocab_size\", expected it (rows of the embedding)");
}

TEST(ModelJson, WrongTypesAndWordsAreRefused) {
  Json document = tinyDocument();
  document["hidden_size"] = "24";
  EXPECT_EQ(errorOf(document), "m.json: /hidden_size: error: found \"24\", expected an integer");
  document = tinyDocument();
  document["activation"] = "swish";
  EXPECT_EQ(errorOf(document),
            "m.json: /activation: error: found \"swish\", expected \"silu\", \"gelu_tanh\", "
            "\"gelu_erf\" or \"relu\"");
}

TEST(ModelJson, ProblemsOfALayerPointAtItsRun) {
  Json document = tinyDocument();
  document["layers"][1]["num_kv_heads"] = 4;
  EXPECT_EQ(errorOf(document),
            "m.json: /layers/1/num_heads: error: found 2 query heads, expected a multiple of the 4 "
            "key/value heads\n"
            "m.json: /layers/1/num_kv_heads: note: 4 key/value heads come from here");
}

TEST(ModelJson, RunsCannotAskForUnboundedLayers) {
  Json document = tinyDocument();
  document["layers"][0]["repeat"] = int64_t(1) << 60;
  EXPECT_EQ(errorOf(document),
            "m.json: /layers/0/repeat: error: found 1152921504606846976, expected 1 to 4096 (at "
            "most 4096 layers in all)");
}

TEST(ModelJson, WeightsAreEitherStoredOrRandom) {
  Json document = tinyDocument();
  document["weights"] = {{"random", 1}, {"safetensors", "x"}};
  EXPECT_EQ(errorOf(document),
            "m.json: /weights: error: found both of \"safetensors\" and \"random\", expected "
            "exactly one of them");
  document["weights"] = Json::object();
  EXPECT_NE(errorOf(document).find("found neither"), std::string::npos);
}

TEST(ModelJson, AFutureVersionIsRefused) {
  Json document = tinyDocument();
  document["llmc_model"] = 2;
  EXPECT_EQ(errorOf(document), "m.json: /llmc_model: error: found format version 2, expected 1");
}

TEST(ModelJson, SchemaNamesEveryKeyThatAWrittenModelHas) {
  Json schema = Json::parse(modelJsonSchema());
  Json written =
      Json::parse(writeModelJson(model::tinyConfig(), {std::string("x"), false, std::nullopt}));
  for (auto &[key, value] : written.items())
    EXPECT_TRUE(schema["properties"].contains(key)) << key;
  for (auto &[key, value] : written["layers"][0].items())
    EXPECT_TRUE(schema["properties"]["layers"]["items"]["properties"].contains(key)) << key;
  EXPECT_EQ(schema["properties"]["hidden_size"]["type"], "integer");
  EXPECT_EQ(schema["properties"]["rope"]["properties"]["kind"]["enum"].size(), 5u);
  EXPECT_EQ(schema["additionalProperties"], false);
}
