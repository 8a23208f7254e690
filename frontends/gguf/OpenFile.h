// SPDX-License-Identifier: Apache-2.0
// A GGUF file as a config and its weights.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc::gguf {

struct OpenedFile {
  model::ModelConfig config;
  std::unique_ptr<model::WeightSource> weights;
};

Result<OpenedFile> openFile(const std::string &path);

} // namespace llmc::gguf
