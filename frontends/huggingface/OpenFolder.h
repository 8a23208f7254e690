// SPDX-License-Identifier: Apache-2.0
// A Hugging Face folder (config.json, perhaps generation_config.json, safetensors) as a config and
// its weights.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc::huggingface {

struct OpenedFolder {
  model::ModelConfig config;
  std::unique_ptr<model::WeightSource> weights;
};

Result<OpenedFolder> openFolder(const std::string &folder);

// "layers.3.q" -> "model.layers.3.self_attn.q_proj.weight".
std::string storedName(std::string_view canonical);

} // namespace llmc::huggingface
