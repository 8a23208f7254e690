// SPDX-License-Identifier: Apache-2.0
// Opens a model, whatever it is stored as: a Hugging Face folder, a GGUF file (or a folder with
// exactly one), a model.json, or a config.json alone, whose weights have shapes but no values.
#pragma once

#include "dialects/model/TokenizerSpec.h"
#include "dialects/model/WeightSource.h"

#include <optional>

namespace llmc {

struct OpenedModel {
  model::ModelConfig config;
  std::unique_ptr<model::WeightSource> weights;
  std::string source; // one line for people and the manifest: "Hugging Face folder PATH", "GGUF file PATH"
  // What the source says about text; none where it says nothing. An error concerns only those who
  // need it, so a model whose tokenizer llmc cannot read still opens.
  Result<std::optional<model::TokenizerSpec>> tokenizer = std::optional<model::TokenizerSpec>();
};

Result<OpenedModel> openModel(const std::string &path);

} // namespace llmc
