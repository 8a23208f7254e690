// SPDX-License-Identifier: Apache-2.0
// A small config that is right, for tests that then break one thing in it.
#pragma once

#include "dialects/model/ModelConfig.h"

namespace llmc::model {

inline ModelConfig tinyConfig(int64_t layers = 2) {
  ModelConfig config;
  config.family = "llama";
  config.hiddenSize = 24;
  config.intermediateSize = 40;
  config.vocabSize = 67;
  config.maxPositions = 64;
  config.rope.rotaryDims = 10;
  LayerConfig layer;
  layer.numHeads = 3;
  layer.numKVHeads = 1;
  layer.headDim = 10;
  layer.attentionScale = 0.316227766016838;
  config.layers.assign(static_cast<size_t>(layers), layer);
  config.eosIds = {2};
  return config;
}

} // namespace llmc::model
