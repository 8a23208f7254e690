// SPDX-License-Identifier: Apache-2.0
// A GGUF file as a config and its weights.
#pragma once

#include "dialects/model/TokenizerSpec.h"
#include "dialects/model/WeightSource.h"

#include <optional>

namespace llmc::gguf {

struct OpenedFile {
  model::ModelConfig config;
  std::unique_ptr<model::WeightSource> weights;
  // None when the file has none; an error concerns only those who need it.
  Result<std::optional<model::TokenizerSpec>> tokenizer;
};

Result<OpenedFile> openFile(const std::string &path);

} // namespace llmc::gguf
