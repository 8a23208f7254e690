// SPDX-License-Identifier: Apache-2.0
#include "frontends/gguf/Config.h"

#include "GGUFFile.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using model::ModelConfig;
using model::RopeKind;

namespace {

Result<ModelConfig> configOf(const GGUFFile &file) {
  TemporaryFolder folder;
  folder.write("m.gguf", file.bytes());
  Result<gguf::Container> container = gguf::Container::open(folder.file("m.gguf"));
  if (!container)
    return container.takeError();
  return gguf::readConfig(*container);
}

ModelConfig goodConfig(const GGUFFile &file) {
  Result<ModelConfig> config = configOf(file);
  EXPECT_TRUE(config) << config.error().str();
  return config ? *config : ModelConfig();
}

// What follows `FILE: `.
std::string messageOf(const GGUFFile &file) {
  Result<ModelConfig> config = configOf(file);
  if (config)
    return "no error";
  std::string message = config.error().message;
  return message.substr(message.find(".gguf: ") + 7);
}

TEST(GGUFConfig, SaysWhatTheKeysSay) {
  for (const char *architecture : {"llama", "qwen2", "qwen3"}) {
    TinyGGUF tiny = tinyGGUF(architecture);
    ModelConfig config = goodConfig(tiny.file);
    EXPECT_EQ(config.family, architecture);
    EXPECT_EQ(config.hiddenSize, 64);
    EXPECT_EQ(config.intermediateSize, 96);
    EXPECT_EQ(config.vocabSize, 40);
    EXPECT_EQ(config.maxPositions, 128);
    EXPECT_EQ(config.norm.epsilon, 1e-5);
    EXPECT_EQ(config.rope.kind, RopeKind::Default);
    EXPECT_EQ(config.rope.theta, 10000);
    EXPECT_EQ(config.rope.rotaryDims, 16);
    EXPECT_FALSE(config.tieWordEmbeddings);
    EXPECT_EQ(config.bosIds, std::vector<int32_t>{1});
    EXPECT_EQ(config.eosIds, std::vector<int32_t>{2});
    ASSERT_EQ(config.numLayers(), 2);
    const model::LayerConfig &layer = config.layers[1];
    EXPECT_EQ(layer.numHeads, 4);
    EXPECT_EQ(layer.numKVHeads, 2);
    EXPECT_EQ(layer.headDim, 16);
    EXPECT_EQ(layer.attentionScale, 0.25);
    EXPECT_EQ(layer.qkvBias, config.family == "qwen2");
    EXPECT_EQ(layer.qkNorm, config.family == "qwen3");
    EXPECT_FALSE(layer.outBias || layer.mlpBias);
  }
}

TEST(GGUFConfig, WithoutAHeadTheEmbeddingIsTheHead) {
  TinyGGUF tiny = tinyGGUF("llama");
  tiny.file.tensors.pop_back();
  EXPECT_TRUE(goodConfig(tiny.file).tieWordEmbeddings);
}

TEST(GGUFConfig, HeadsMayBeGivenLayerByLayer) {
  TinyGGUF tiny = tinyGGUF("llama");
  auto list = [](int a, int b) { return littleEndian(a, 4) + littleEndian(b, 4); };
  tiny.file.set(listKey("llama.attention.head_count", U32, 2, list(4, 2)));
  tiny.file.set(listKey("llama.attention.head_count_kv", I32, 2, list(2, 1)));
  EXPECT_EQ(messageOf(tiny.file),
            "key 'llama.attention.key_length': error: found no such key, expected one, because "
            "attention.head_count differs between layers");
  tiny.file.set(u32Key("llama.attention.key_length", 16));
  ModelConfig config = goodConfig(tiny.file);
  EXPECT_EQ(config.layers[0].numHeads, 4);
  EXPECT_EQ(config.layers[1].numHeads, 2);
  EXPECT_EQ(config.layers[1].numKVHeads, 1);
  EXPECT_EQ(config.layers[1].headDim, 16);
}

TEST(GGUFConfig, StopIdsAreThreeKeys) {
  TinyGGUF tiny = tinyGGUF("llama");
  tiny.file.set(u32Key("tokenizer.ggml.eot_token_id", 7));
  tiny.file.set(u32Key("tokenizer.ggml.eom_token_id", 2));
  EXPECT_EQ(goodConfig(tiny.file).eosIds, (std::vector<int32_t>{2, 7}));
}

TEST(GGUFConfig, LinearScalingHasAnOldAndANewKey) {
  TinyGGUF tiny = tinyGGUF("llama");
  tiny.file.set(f32Key("llama.rope.scale_linear", 2.5f));
  ModelConfig config = goodConfig(tiny.file);
  EXPECT_EQ(config.rope.kind, RopeKind::Linear);
  EXPECT_EQ(config.rope.factor, 2.5);
  tiny.file.set(f32Key("llama.rope.scaling.factor", 4));
  EXPECT_NE(messageOf(tiny.file).find("key 'llama.rope.scale_linear': error: found 2.5"),
            std::string::npos);
  tiny.file.set(f32Key("llama.rope.scale_linear", 0));
  EXPECT_EQ(goodConfig(tiny.file).rope.factor, 4);
  tiny.file.set(stringKey("llama.rope.scaling.type", "none"));
  EXPECT_EQ(goodConfig(tiny.file).rope.kind, RopeKind::Default);
}

TEST(GGUFConfig, YarnHasItsOwnMagnitude) {
  TinyGGUF tiny = tinyGGUF("qwen2");
  tiny.file.set(stringKey("qwen2.rope.scaling.type", "yarn"));
  tiny.file.set(f32Key("qwen2.rope.scaling.factor", 4));
  tiny.file.set(u32Key("qwen2.rope.scaling.original_context_length", 32));
  ModelConfig config = goodConfig(tiny.file);
  EXPECT_EQ(config.rope.kind, RopeKind::Yarn);
  EXPECT_EQ(config.rope.originalMaxPositions, 32);
  EXPECT_FLOAT_EQ(ropeFrequencies(config.rope, 16).magnitude, 1 + 0.1 * std::log(4.0));
  tiny.file.set(f32Key("qwen2.rope.scaling.attn_factor", 0.5f));
  config = goodConfig(tiny.file);
  EXPECT_FLOAT_EQ(ropeFrequencies(config.rope, 16).magnitude, 0.5 * (1 + 0.1 * std::log(4.0)));
  tiny.file.set(f32Key("qwen2.rope.scaling.yarn_log_multiplier", 1));
  config = goodConfig(tiny.file);
  EXPECT_FLOAT_EQ(ropeFrequencies(config.rope, 16).magnitude, 0.5);
  tiny.file.set(stringKey("qwen2.rope.scaling.type", "longrope"));
  EXPECT_EQ(messageOf(tiny.file), "key 'qwen2.rope.scaling.type': error: found \"longrope\", "
                                  "expected \"none\", \"linear\" or \"yarn\"");
}

// Llama 3's scaling: the file holds what each frequency is divided by.
TEST(GGUFConfig, ATensorMayDivideRotaryFrequencies) {
  TinyGGUF tiny = tinyGGUF("llama");
  model::RopeConfig llama3 = tiny.config.rope;
  llama3.kind = RopeKind::Llama3;
  llama3.factor = 8;
  llama3.originalMaxPositions = 64;
  std::vector<float> plain = ropeFrequencies(tiny.config.rope, 16).inverseFrequencies;
  std::vector<float> scaled = ropeFrequencies(llama3, 16).inverseFrequencies;
  std::string divisors;
  for (size_t i = 0; i < plain.size(); ++i)
    divisors += floatBytes(plain[i] / scaled[i]);
  tiny.file.tensors.insert(tiny.file.tensors.begin() + 1,
                           {"rope_freqs.weight", {8}, F32Tensor, divisors});
  ModelConfig config = goodConfig(tiny.file);
  std::vector<float> found = ropeFrequencies(config.rope, 16).inverseFrequencies;
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_NEAR(found[i], scaled[i], 2e-7f * scaled[i]) << i;
  EXPECT_NE(found[7], plain[7]);

  tiny.file.findTensor("rope_freqs.weight")->bytes.replace(4, 4, floatBytes(0));
  EXPECT_EQ(messageOf(tiny.file), "tensor 'rope_freqs.weight': error: found 0.000000 at index 1, "
                                  "expected a number from 1e-30 to 1e30");
}

TEST(GGUFConfig, WindowsNeedAPatternWhereLayersMayDiffer) {
  TinyGGUF llama = tinyGGUF("llama");
  llama.file.set(u32Key("llama.attention.sliding_window", 8));
  EXPECT_EQ(goodConfig(llama.file).layers[1].slidingWindow, 8);

  TinyGGUF qwen = tinyGGUF("qwen3");
  qwen.file.set(u32Key("qwen3.attention.sliding_window", 8));
  EXPECT_NE(messageOf(qwen.file).find("expected attention.sliding_window_pattern beside it"),
            std::string::npos);
  qwen.file.set(listKey("qwen3.attention.sliding_window_pattern", BoolValue, 2,
                        littleEndian(0, 1) + littleEndian(1, 1)));
  EXPECT_EQ(goodConfig(qwen.file).layers[0].slidingWindow, 0);
  EXPECT_EQ(goodConfig(qwen.file).layers[1].slidingWindow, 8);
  qwen.file.set(u32Key("qwen3.attention.sliding_window_pattern", 2)); // each second sees all
  EXPECT_EQ(goodConfig(qwen.file).layers[0].slidingWindow, 8);
  EXPECT_EQ(goodConfig(qwen.file).layers[1].slidingWindow, 0);
}

TEST(GGUFConfig, BiasesAreThereWhenTheirTensorsAre) {
  TinyGGUF tiny = tinyGGUF("llama");
  tiny.file.tensors.push_back({"blk.1.attn_output.bias", {64}, F32Tensor, std::string(256, '\0')});
  ModelConfig config = goodConfig(tiny.file);
  EXPECT_FALSE(config.layers[0].outBias);
  EXPECT_TRUE(config.layers[1].outBias);
}

TEST(GGUFConfig, SaysWhatIsWrong) {
  struct Row {
    GGUFKey key;
    const char *message;
  };
  const Row rows[] = {
      {stringKey("general.architecture", "mamba"),
       "key 'general.architecture': error: found \"mamba\", expected llama, qwen2 or qwen3"},
      {u32Key("llama.attention.unheard_of", 1),
       "key 'llama.attention.unheard_of': error: found an unknown key, expected only keys that "
       "llmc knows: it might change the model's results, so it is not ignored"},
      {u32Key("qwen2.block_count", 1),
       "key 'qwen2.block_count': error: found an unknown key, expected only keys that llmc knows: "
       "it might change the model's results, so it is not ignored"},
      {u32Key("llama.expert_count", 8), "key 'llama.expert_count': error: found 8, expected 0 (no "
                                        "mixture of experts yet)"},
      {u32Key("split.count", 3), "key 'split.count': error: found 3, expected 0 or 1 (all in one "
                                 "file; llama-gguf-split --merge makes it one)"},
      {stringKey("general.type", "adapter"), "key 'general.type': error: found \"adapter\", "
                                             "expected \"model\" (a model, not an adapter or a "
                                             "projector)"},
      {u32Key("general.quantization_version", 1),
       "key 'general.quantization_version': error: found 1, expected 2 (blocks as they are since "
       "2023)"},
      {stringKey("llama.block_count", "two"),
       "key 'llama.block_count': error: found \"two\", expected a whole number below 2^63"},
      {f32Key("llama.rope.freq_base", NAN),
       "key 'llama.rope.freq_base': error: found nan, expected a finite number"},
      {u32Key("llama.rope.dimension_count", 8),
       "key 'llama.rope.dimension_count': error: found 8, expected all of a head (16 dimensions) "
       "to be rotated"},
      {u32Key("llama.attention.head_count_kv", 3),
       "key 'llama.attention.head_count': error: found 4 query heads, expected a multiple of the 3 "
       "key/value heads"},
      {u32Key("llama.vocab_size", 41),
       "key 'llama.vocab_size': error: found a vocabulary of 41, expected 40"},
      {stringsKey("tokenizer.ggml.tokens", {"a", "b"}),
       "key 'tokenizer.ggml.tokens': error: found a vocabulary of 2, expected 40"},
      {u32Key("tokenizer.ggml.eos_token_id", 40),
       "key 'tokenizer.ggml.eos_token_id': error: found 40, expected an id from 0 to 39"},
      {f32Key("llama.rope.scaling.yarn_beta_fast", 16),
       "key 'llama.rope.scaling.yarn_beta_fast': error: found a key of yarn, expected "
       "rope.scaling.type to be \"yarn\" beside it"},
  };
  for (const Row &row : rows) {
    TinyGGUF tiny = tinyGGUF("llama");
    tiny.file.set(row.key);
    EXPECT_EQ(messageOf(tiny.file), row.message);
  }
}

} // namespace
