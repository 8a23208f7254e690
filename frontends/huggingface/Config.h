// SPDX-License-Identifier: Apache-2.0
// The config.json (and generation_config.json) of a Hugging Face folder as a ModelConfig.
#pragma once

#include "dialects/model/Error.h"
#include "dialects/model/ModelConfig.h"
#include "frontends/huggingface/ConfigKeys.h"

namespace llmc::huggingface {

// Reads, derives what the family leaves to defaults, and validates. Contradicting keys are errors.
// tieWordEmbeddings is what the file says; which tensors exist decides in the end (OpenFolder.cpp).
Result<model::ModelConfig> readConfig(const std::string &folder);

// The same for texts already in memory; `generationText` may be empty.
Result<model::ModelConfig> parseConfig(std::string_view text, const std::string &file,
                                       std::string_view generationText,
                                       const std::string &generationFile);

// The rotary embedding out of rope_theta and rope_scaling or rope_parameters.
Status deriveRope(const RawConfig &raw, const json::Place &root, model::RopeConfig &rope);

} // namespace llmc::huggingface
