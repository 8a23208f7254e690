// SPDX-License-Identifier: Apache-2.0
#include "frontends/huggingface/Config.h"

#include "../Support.h"

#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::model;
using test::Json;

static Result<ModelConfig> read(const Json &config, const std::string &generation = "") {
  return huggingface::parseConfig(config.dump(), "config.json", generation,
                                  "generation_config.json");
}

static std::string errorOf(const Json &config, const std::string &generation = "") {
  Result<ModelConfig> result = read(config, generation);
  return result ? "read" : result.error().str();
}

static Json with(const char *family, const Json &changes) {
  Json config = test::tinyHuggingFaceConfig(family);
  config.update(changes);
  return config;
}

TEST(HuggingFaceConfig, ReadsLlama) {
  Result<ModelConfig> config = read(test::tinyHuggingFaceConfig("llama"));
  ASSERT_TRUE(config.ok()) << config.error().str();
  EXPECT_EQ(config->family, "llama");
  EXPECT_EQ(config->numLayers(), 2);
  EXPECT_EQ(config->layers[1].headDim, 10);
  EXPECT_EQ(config->layers[1].numKVHeads, 1);
  EXPECT_DOUBLE_EQ(config->layers[1].attentionScale, 0.31622776601683794);
  EXPECT_FALSE(config->layers[1].qkvBias);
  EXPECT_EQ(config->rope.rotaryDims, 10);
  EXPECT_EQ(config->eosIds, (std::vector<int32_t>{2}));
  EXPECT_FALSE(config->tieWordEmbeddings);
}

TEST(HuggingFaceConfig, FamiliesDifferInBiasesNormsAndWindows) {
  Result<ModelConfig> qwen2 = read(test::tinyHuggingFaceConfig("qwen2"));
  Result<ModelConfig> qwen3 = read(test::tinyHuggingFaceConfig("qwen3"));
  Result<ModelConfig> mistral = read(test::tinyHuggingFaceConfig("mistral"));
  Result<ModelConfig> llama = read(with("llama", {{"attention_bias", true}, {"mlp_bias", true}}));
  ASSERT_TRUE(qwen2.ok()) << qwen2.error().str();
  ASSERT_TRUE(qwen3.ok()) << qwen3.error().str();
  ASSERT_TRUE(mistral.ok()) << mistral.error().str();
  ASSERT_TRUE(llama.ok()) << llama.error().str();
  EXPECT_TRUE(qwen2->layers[0].qkvBias);
  EXPECT_FALSE(qwen2->layers[0].outBias);
  EXPECT_TRUE(qwen3->layers[0].qkNorm);
  EXPECT_EQ(qwen3->layers[0].qkNormEpsilon, 1e-5);
  EXPECT_FALSE(qwen3->layers[0].qkvBias);
  EXPECT_EQ(mistral->layers[1].slidingWindow, 8);
  EXPECT_TRUE(llama->layers[0].qkvBias && llama->layers[0].outBias && llama->layers[0].mlpBias);
}

TEST(HuggingFaceConfig, Transformers4AndTransformers5SpellTheSameRope) {
  Json old = with("llama", {{"rope_theta", 5e5},
                            {"torch_dtype", "bfloat16"},
                            {"rope_scaling",
                             {{"rope_type", "llama3"},
                              {"factor", 8.0},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 32}}}});
  old.erase("rope_parameters");
  old.erase("dtype");
  Json young = with("llama", {{"rope_parameters",
                               {{"rope_type", "llama3"},
                                {"rope_theta", 5e5},
                                {"factor", 8.0},
                                {"low_freq_factor", 1.0},
                                {"high_freq_factor", 4.0},
                                {"original_max_position_embeddings", 32}}}});
  for (const Json &spelling : {old, young}) {
    Result<ModelConfig> config = read(spelling);
    ASSERT_TRUE(config.ok()) << config.error().str();
    EXPECT_EQ(config->rope.kind, RopeKind::Llama3);
    EXPECT_EQ(config->rope.theta, 5e5);
    EXPECT_EQ(config->rope.factor, 8);
    EXPECT_EQ(config->rope.originalMaxPositions, 32);
  }
}

TEST(HuggingFaceConfig, OldRopeScalingNamesItsKindType) {
  Json config = with("llama", {{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}});
  config.erase("rope_parameters");
  EXPECT_EQ(read(config)->rope.kind, RopeKind::Linear);
  EXPECT_EQ(read(config)->rope.theta, 10000);
}

TEST(HuggingFaceConfig, DynamicRopeHoldsUpToTheOriginalContext) {
  Json config =
      with("llama",
           {{"rope_parameters", {{"rope_type", "dynamic"}, {"rope_theta", 1e4}, {"factor", 2.0}}}});
  EXPECT_EQ(read(config)->positionLimit(), 64);
  config["rope_parameters"]["original_max_position_embeddings"] = 32;
  EXPECT_EQ(read(config)->positionLimit(), 32);
}

TEST(HuggingFaceConfig, YarnKeepsAllItsKeys) {
  Json rope = {{"rope_type", "yarn"},
               {"rope_theta", 1e6},
               {"factor", 4.0},
               {"original_max_position_embeddings", 16},
               {"attention_factor", nullptr},
               {"beta_fast", 16},
               {"beta_slow", 0},
               {"mscale", 1.0},
               {"mscale_all_dim", 0.5},
               {"truncate", false}};
  Result<ModelConfig> config = read(with("qwen2", {{"rope_parameters", rope}}));
  ASSERT_TRUE(config.ok()) << config.error().str();
  EXPECT_EQ(config->rope.kind, RopeKind::Yarn);
  EXPECT_FALSE(config->rope.attentionFactor.has_value());
  EXPECT_EQ(config->rope.betaFast, 16);
  EXPECT_EQ(config->rope.betaSlow, 1); // 0 stands for the default, as in transformers
  EXPECT_EQ(config->rope.mscaleAllDim, 0.5);
  EXPECT_FALSE(config->rope.truncate);
}

TEST(HuggingFaceConfig, QwenWindowsHoldFromMaxWindowLayersOrByLayerType) {
  Json windows = with(
      "qwen2", {{"use_sliding_window", true}, {"sliding_window", 8}, {"max_window_layers", 1}});
  windows.erase("layer_types");
  EXPECT_EQ(read(windows)->layers[0].slidingWindow, 0);
  EXPECT_EQ(read(windows)->layers[1].slidingWindow, 8);
  windows["layer_types"] = {"sliding_attention", "full_attention"};
  EXPECT_EQ(read(windows)->layers[0].slidingWindow, 8);
  EXPECT_EQ(read(windows)->layers[1].slidingWindow, 0);
  windows["use_sliding_window"] = false;
  EXPECT_EQ(errorOf(windows).substr(0, 93),
            "config.json: /layer_types/0: error: found \"sliding_attention\", expected "
            "\"full_attention\", bec");
}

TEST(HuggingFaceConfig, MistralWindowIsANumberOrNull) {
  EXPECT_EQ(read(with("mistral", {{"sliding_window", nullptr}}))->layers[0].slidingWindow, 0);
  Json absent = test::tinyHuggingFaceConfig("mistral");
  absent.erase("sliding_window");
  EXPECT_EQ(read(absent)->layers[0].slidingWindow, 4096); // the default of transformers' class
  EXPECT_EQ(errorOf(with("mistral", {{"sliding_window", 0}})),
            "config.json: /sliding_window: error: found 0, expected at least 1, or null");
}

TEST(HuggingFaceConfig, HeadDimIsDerivedWhenAbsent) {
  Json config = test::tinyHuggingFaceConfig("llama");
  config.erase("head_dim");
  EXPECT_EQ(read(config)->layers[0].headDim, 8);
  config["num_attention_heads"] = 5;
  EXPECT_EQ(
      errorOf(config),
      "config.json: /hidden_size: error: found 24, expected a multiple of num_attention_heads "
      "(5), or an explicit head_dim\n"
      "config.json: /num_attention_heads: note: 5 comes from here");
}

TEST(HuggingFaceConfig, GenerationConfigSaysFirstWhereToStop) {
  Json config = test::tinyHuggingFaceConfig("llama");
  EXPECT_EQ(read(config, R"({"eos_token_id": [5, 6]})")->eosIds, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(read(config, R"({"eos_token_id": 7, "temperature": 0.6})")->eosIds,
            (std::vector<int32_t>{7}));
  EXPECT_EQ(read(config, R"({"bos_token_id": 3})")->eosIds, (std::vector<int32_t>{2}));
  EXPECT_EQ(read(config, R"({"bos_token_id": 3})")->bosIds, (std::vector<int32_t>{3}));
  config["eos_token_id"] = {8, 9};
  EXPECT_EQ(read(config)->eosIds, (std::vector<int32_t>{8, 9}));
  EXPECT_EQ(errorOf(config, R"({"eos_token_id": 67})"),
            "generation_config.json: /eos_token_id: error: found id 67, expected 0 to 66 "
            "(vocab_size - 1)\n"
            "config.json: /vocab_size: note: 67 comes from here");
}

TEST(HuggingFaceConfig, UnknownKeysAreErrors) {
  EXPECT_EQ(errorOf(with("llama", {{"attn_logit_softcapping", 50.0}})),
            "config.json: /attn_logit_softcapping: error: found unknown key "
            "\"attn_logit_softcapping\", expected only "
            "keys that llmc knows; it might change the model's results, so it is not ignored");
  EXPECT_NE(
      errorOf(with("qwen2", {{"attention_bias", true}})).find("unknown key \"attention_bias\""),
      std::string::npos);
}

TEST(HuggingFaceConfig, HarmlessKeysAreNot) {
  EXPECT_EQ(errorOf(with("llama", {{"_name_or_path", "x"},
                                   {"id2label", {{"0", "a"}}},
                                   {"temperature", 0.5},
                                   {"use_cache", false}})),
            "read");
}

struct Refusal {
  const char *family;
  const char *changes;
  const char *error;
};
static std::ostream &operator<<(std::ostream &out, const Refusal &refusal) {
  return out << refusal.changes;
}

class ConfigRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(ConfigRefuses, Change) {
  EXPECT_EQ(errorOf(with(GetParam().family, Json::parse(GetParam().changes))),
            "config.json: " + std::string(GetParam().error));
}

static const Refusal refusals[] = {
    {"llama", R"({"model_type": "gpt2"})",
     "/model_type: error: found \"gpt2\", expected a family that llmc knows: \"llama\", "
     "\"mistral\", \"qwen2\" or \"qwen3\""},
    {"llama", R"({"hidden_act": "gelu_fast"})",
     "/hidden_act: error: found \"gelu_fast\", expected \"silu\", \"swish\", \"gelu\", "
     "\"gelu_pytorch_tanh\", \"gelu_new\" or \"relu\""},
    {"llama", R"({"num_key_value_heads": 2})",
     "/num_attention_heads: error: found 3 query heads, expected a multiple of the 2 key/value "
     "heads\n"
     "config.json: /num_key_value_heads: note: 2 key/value heads come from here"},
    {"llama", R"({"num_hidden_layers": 99999999999})",
     "/num_hidden_layers: error: found 99999999999, expected 1 to 4096"},
    {"llama", R"({"head_dim": 9})",
     "/head_dim: error: found 9, expected an even number from 2 to 16777216"},
    {"llama", R"({"rms_norm_eps": "small"})",
     "/rms_norm_eps: error: found \"small\", expected a number"},
    {"llama", R"({"sliding_window": 8})",
     "/sliding_window: error: found 8, expected null (this family attends to all positions)"},
    {"llama", R"({"quantization_config": {"bits": 4}})",
     "/quantization_config: error: found an object, expected null (weights are F32, F16 or BF16)"},
    {"llama", R"({"rope_parameters": {"rope_type": "longrope"}})",
     "/rope_parameters/rope_type: error: found \"longrope\", expected \"default\", \"linear\", "
     "\"llama3\", \"yarn\" or \"dynamic\""},
    {"llama", R"({"rope_parameters": {"rope_type": "linear", "rope_theta": 10000.0}})",
     "/rope_parameters: error: found no key \"factor\", expected it (stretch of the context)"},
    {"llama", R"({"rope_theta": 5000.0})",
     "/rope_parameters/rope_theta: error: found 10000, expected the same as /rope_theta (5000)\n"
     "config.json: /rope_theta: note: 5000 comes from here"},
    {"llama", R"({"rope_scaling": {"type": "linear", "factor": 2}})",
     "/rope_scaling: error: found rope_scaling beside rope_parameters, expected one of them\n"
     "config.json: /rope_parameters: note: the other one is here"},
    {"llama", R"({"rope_parameters": {"rope_type": "linear", "type": "yarn", "factor": 2}})",
     "/rope_parameters/type: error: found \"yarn\", expected the same as \"rope_type\" "
     "(\"linear\")\n"
     "config.json: /rope_parameters/rope_type: note: \"linear\" comes from here"},
    {"llama", R"({"rope_parameters": {"rope_type": "linear", "factor": 0.5}})",
     "/rope_parameters/factor: error: found 0.5, expected at least 1"},
    {"llama",
     R"({"rope_parameters": {"rope_type": "dynamic", "factor": 2, "original_max_position_embeddings": 65}})",
     "/rope_parameters/original_max_position_embeddings: error: found 65, expected at most "
     "max_position_embeddings (64)\n"
     "config.json: /max_position_embeddings: note: 64 comes from here"},
    {"mistral", R"({"layer_types": ["full_attention", "full_attention"]})",
     "/layer_types/0: error: found \"full_attention\", expected \"sliding_attention\", because "
     "sliding_window holds for all\n"
     "config.json: /sliding_window: note: 8 comes from here"},
    {"qwen3", R"({"layer_types": ["full_attention"]})",
     "/layer_types: error: found a list of 1, expected one entry for each of num_hidden_layers (2) "
     "layers\n"
     "config.json: /num_hidden_layers: note: 2 comes from here"},
};

INSTANTIATE_TEST_SUITE_P(Changes, ConfigRefuses, testing::ValuesIn(refusals));
