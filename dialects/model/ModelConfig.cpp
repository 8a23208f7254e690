// SPDX-License-Identifier: Apache-2.0
// Names of the enumerations, and the list of tensors that a config asks for.
#include "dialects/model/ModelConfig.h"

#include <algorithm>

namespace llmc::model {

const char *name(Activation activation) {
  static constexpr const char *names[] = {"silu", "gelu_tanh", "gelu_erf", "relu"};
  return names[static_cast<size_t>(activation)];
}

const char *name(RopeKind kind) {
  static constexpr const char *names[] = {"default", "linear", "llama3", "yarn", "dynamic"};
  return names[static_cast<size_t>(kind)];
}

const char *name(RopePairing pairing) {
  return pairing == RopePairing::Half ? "half" : "interleaved";
}

int64_t ModelConfig::positionLimit() const {
  if (rope.kind != RopeKind::Dynamic)
    return maxPositions;
  return std::min(maxPositions, rope.originalMaxPositions);
}

namespace {

class SpecList {
public:
  explicit SpecList(std::vector<WeightSpec> &specs) : specs(specs) {}

  void setPrefix(std::string text) { prefix = std::move(text); }
  void add(const char *name, std::vector<int64_t> shape) {
    specs.push_back({prefix + name, std::move(shape)});
  }
  void addIf(bool present, const char *name, std::vector<int64_t> shape) {
    if (present)
      add(name, std::move(shape));
  }

private:
  std::vector<WeightSpec> &specs;
  std::string prefix;
};

void addLayer(SpecList &list, const ModelConfig &config, const LayerConfig &layer) {
  int64_t hidden = config.hiddenSize, inner = config.intermediateSize;
  int64_t queries = layer.numHeads * layer.headDim, keys = layer.numKVHeads * layer.headDim;
  list.add("attn_norm", {hidden});
  list.add("q", {queries, hidden});
  list.add("k", {keys, hidden});
  list.add("v", {keys, hidden});
  list.addIf(layer.qkvBias, "q_bias", {queries});
  list.addIf(layer.qkvBias, "k_bias", {keys});
  list.addIf(layer.qkvBias, "v_bias", {keys});
  list.addIf(layer.qkNorm, "q_norm", {layer.headDim});
  list.addIf(layer.qkNorm, "k_norm", {layer.headDim});
  list.add("o", {hidden, queries});
  list.addIf(layer.outBias, "o_bias", {hidden});
  list.add("mlp_norm", {hidden});
  list.add("gate", {inner, hidden});
  list.add("up", {inner, hidden});
  list.addIf(layer.mlpBias, "gate_bias", {inner});
  list.addIf(layer.mlpBias, "up_bias", {inner});
  list.add("down", {hidden, inner});
  list.addIf(layer.mlpBias, "down_bias", {hidden});
}

} // namespace

std::vector<WeightSpec> canonicalWeights(const ModelConfig &config) {
  std::vector<WeightSpec> specs;
  SpecList list(specs);
  list.add("embed", {config.vocabSize, config.hiddenSize});
  for (size_t i = 0; i < config.layers.size(); ++i) {
    list.setPrefix("layers." + std::to_string(i) + ".");
    addLayer(list, config, config.layers[i]);
  }
  list.setPrefix("");
  list.add("final_norm", {config.hiddenSize});
  list.addIf(!config.tieWordEmbeddings, "lm_head", {config.vocabSize, config.hiddenSize});
  return specs;
}

} // namespace llmc::model
