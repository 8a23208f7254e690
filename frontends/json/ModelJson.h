// SPDX-License-Identifier: Apache-2.0
// model.json, llmc's own description of a model: everything that a ModelConfig holds, spelled out,
// and where the weights are. One table of keys (ModelJsonKeys.cpp) drives the reader, the writer
// and the JSON Schema.
#pragma once

#include "dialects/model/ModelConfig.h"
#include "frontends/json/Value.h"

namespace llmc::json {

// Where a model.json's weights come from; exactly one of both.
struct WeightsReference {
  std::optional<std::string>
      safetensors; // a file or a folder, relative to the folder of the model.json
  bool huggingFaceNames =
      false; // the safetensors hold Hugging Face's names, not the canonical ones
  std::optional<int64_t> randomSeed;
};

struct ModelDescription {
  model::ModelConfig config;
  WeightsReference weights;
};

// Reads and validates.
Result<ModelDescription> readModelJson(const std::string &path);
Result<ModelDescription> parseModelJson(std::string_view text, std::string_view file);

// The text of a model.json that reads back to the same description.
std::string writeModelJson(const model::ModelConfig &config, const WeightsReference &weights);

// JSON Schema (draft 2020-12) of model.json.
std::string modelJsonSchema();

} // namespace llmc::json
