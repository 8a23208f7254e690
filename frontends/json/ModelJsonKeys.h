// SPDX-License-Identifier: Apache-2.0
// The keys of model.json, as tables over plain structs. Layers are written as runs: equal layers in
// a row are one entry with a count, so a model of 80 equal layers stays readable and layers may
// still differ.
#pragma once

#include "frontends/json/KeyTable.h"
#include "frontends/json/ModelJson.h"

namespace llmc::json {

inline constexpr int64_t modelJsonVersion = 1;

// The top-level object; the nested values point into the parsed tree.
struct Document : model::ModelConfig {
  int64_t version = 0;
  const Value *normValue = nullptr;
  const Value *ropeValue = nullptr;
  const Value *layersValue = nullptr;
  const Value *weightsValue = nullptr;
};

struct LayerRun : model::LayerConfig {
  int64_t repeat = 1;
  std::optional<double> scale; // attention_scale; absent: 1/sqrt(head_dim)
};

struct RopeEntry : model::RopeConfig {
  std::optional<int64_t> dims; // rotary_dims; absent: the first layer's head_dim
};

struct WeightsEntry : WeightsReference {
  std::optional<std::string> names;
};

const Table<Document> &documentKeys();
const Table<model::NormConfig> &normKeys();
const Table<RopeEntry> &ropeKeys();
const Table<LayerRun> &layerKeys();
const Table<WeightsEntry> &weightsKeys();

} // namespace llmc::json
