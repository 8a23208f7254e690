// SPDX-License-Identifier: Apache-2.0
// A model of few bytes: one layer, widths of 4.
#pragma once

#include "dialects/model/ModelConfig.h"

namespace llmc::fuzz {

inline model::ModelConfig tinyConfig() {
  model::ModelConfig config;
  config.hiddenSize = config.intermediateSize = config.vocabSize = 4;
  config.maxPositions = 8;
  config.rope.rotaryDims = 4;
  config.tieWordEmbeddings = true;
  model::LayerConfig layer;
  layer.numHeads = layer.numKVHeads = 1;
  layer.headDim = 4;
  layer.attentionScale = 0.5;
  config.layers.push_back(layer);
  return config;
}

// Of its weights in F32: eight matrices of 16 values, three norms of 4.
inline constexpr size_t tinyDataBytes = (8 * 16 + 3 * 4) * 4;

} // namespace llmc::fuzz
