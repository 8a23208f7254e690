// SPDX-License-Identifier: Apache-2.0
// A decoder described as data: what a frontend found out about a model, whatever file it came from.
// Plain C++, no MLIR, no JSON. Layers are described one by one, because they may differ. Readers
// fill it, `validate` says what is wrong with it, and `canonicalWeights` says which tensors a
// WeightSource for it must hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc::model {

enum class NormKind { RMS };
// Before: a norm stands before attention and before the MLP, and one before the head.
enum class NormPlace { Before };
enum class Activation { SiLU, GELUTanh, GELUErf, ReLU };
enum class RopeKind { Default, Linear, Llama3, Yarn, Dynamic };
enum class RopePairing { Half, Interleaved }; // pairs (i, i + r/2), or (2i, 2i + 1)

struct NormConfig {
  NormKind kind = NormKind::RMS;
  NormPlace place = NormPlace::Before;
  double epsilon = 1e-5;
};

struct RopeConfig {
  RopeKind kind = RopeKind::Default;
  double theta = 10000.0;
  double factor = 1.0;         // Linear, Llama3, Yarn, Dynamic
  double lowFreqFactor = 1.0;  // Llama3
  double highFreqFactor = 4.0; // Llama3
  // Llama3, Yarn: the context of the first training; Dynamic: up to here the base is constant.
  int64_t originalMaxPositions = 0;
  double betaFast = 32.0;                // Yarn
  double betaSlow = 1.0;                 // Yarn
  std::optional<double> attentionFactor; // Yarn: when absent, derived from mscale or factor
  double mscale = 0.0;                   // Yarn; 0 = absent
  double mscaleAllDim = 0.0;             // Yarn; 0 = absent
  bool truncate = true;                  // Yarn: round the ends of the ramp
  // Default, Linear: one for each frequency, which it divides; empty stands for ones. How GGUF
  // stores Llama 3's scaling.
  std::vector<double> frequencyDivisors;
  RopePairing pairing = RopePairing::Half;
  // The first rotaryDims of a head are rotated; even, and > 0 once a reader has filled it.
  int64_t rotaryDims = 0;
};

struct LayerConfig {
  int64_t numHeads = 0;
  int64_t numKVHeads = 0;
  int64_t headDim = 0;
  int64_t slidingWindow = 0; // W: a query sees W keys including its own; 0 = all keys up to its own
  bool qkvBias = false;
  bool outBias = false; // of the attention's output projection
  bool mlpBias = false; // of gate, up and down
  // RMS norm of each head of q and k before rope; the weight [headDim] is shared by all heads.
  bool qkNorm = false;
  double qkNormEpsilon = 1e-6;
  // scores = (q . k) * attentionScale; readers write 1/sqrt(headDim) out.
  double attentionScale = 0.0;
  bool useRope = true;
};

struct ModelConfig {
  std::string family; // "llama", "mistral", "qwen2", "qwen3"; for people, no pass may branch on it
  int64_t hiddenSize = 0;
  int64_t intermediateSize = 0;
  int64_t vocabSize = 0;
  int64_t maxPositions = 0;
  std::vector<LayerConfig> layers;
  NormConfig norm;
  Activation activation = Activation::SiLU; // mlp: down(activation(gate(x)) * up(x))
  RopeConfig rope;
  bool tieWordEmbeddings = false; // the head reads `embed`; there is no `lm_head`
  std::vector<int32_t> bosIds;
  std::vector<int32_t> eosIds;

  int64_t numLayers() const { return static_cast<int64_t>(layers.size()); }
  // The most positions a session may hold: maxPositions, or less where the rope's base would depend
  // on the length.
  int64_t positionLimit() const;
};

// Upper limits on what a description may ask for. They keep every product of two of them far inside
// 64 bits and refuse absurd files before anything is allocated for them.
inline constexpr int64_t maxLayers = 4096;
inline constexpr int64_t maxWidth = int64_t(1) << 24; // hidden, MLP, heads * headDim
inline constexpr int64_t maxVocab = int64_t(1) << 26;
inline constexpr int64_t maxPositionCount = int64_t(1) << 31;
inline constexpr int64_t maxElements = int64_t(1) << 48; // of all weights together

// One thing wrong with a config. `place` is the key as model.json spells it:
// "/layers/3/num_kv_heads".
struct ConfigProblem {
  std::string place;
  std::string text;       // what was found, expected what
  std::string otherPlace; // a second key that contradicts it; empty where there is none
  std::string otherText;
};

// Everything wrong with `config`; empty when a module can be built from it.
std::vector<ConfigProblem> validate(const ModelConfig &config);

struct RopeFrequencies {
  std::vector<float> inverseFrequencies; // rotaryDims / 2
  float magnitude = 1.0f;                // cos and sin are multiplied by it
};

// The angles' table as Hugging Face transformers computes it in fp32: angle(p, i) = p *
// inverseFrequencies[i]. rotaryDims 0 stands for all of headDim.
RopeFrequencies ropeFrequencies(const RopeConfig &rope, int64_t headDim);

struct WeightSpec {
  std::string name;
  std::vector<int64_t>
      shape; // linears [out, in]; embed and lm_head [vocabSize, hiddenSize]; norms and biases [n]
};

// Each tensor that a model of this config has, in the order in which a forward pass reads them:
// embed, then of each layer N `layers.N.` attn_norm, q, k, v, (q_bias, k_bias, v_bias), (q_norm,
// k_norm), o, (o_bias), mlp_norm, gate, up, (gate_bias, up_bias), down, (down_bias); final_norm;
// lm_head unless tied.
std::vector<WeightSpec> canonicalWeights(const ModelConfig &config);

const char *name(Activation activation); // "silu", "gelu_tanh", "gelu_erf", "relu"
const char *name(RopeKind kind);         // "default", "linear", "llama3", "yarn", "dynamic"
const char *name(RopePairing pairing);   // "half", "interleaved"

} // namespace llmc::model
