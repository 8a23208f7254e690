// SPDX-License-Identifier: Apache-2.0
// Opens a model, whatever it is stored as: a Hugging Face folder, a GGUF file (or a folder with
// exactly one), or a model.json.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc {

struct OpenedModel {
  model::ModelConfig config;
  std::unique_ptr<model::WeightSource> weights;
  std::string source; // one line for people and the manifest: "Hugging Face folder PATH", "GGUF file PATH"
};

Result<OpenedModel> openModel(const std::string &path);

} // namespace llmc
