// SPDX-License-Identifier: Apache-2.0
// The tokenizer of a Hugging Face folder: tokenizer.json, with the names of special tokens from
// tokenizer_config.json or special_tokens_map.json, and chat templates from there or from files of
// their own.
#pragma once

#include "dialects/model/TokenizerSpec.h"

#include <optional>

namespace llmc::tokenizers {

// None when the folder has no tokenizer.json.
Result<std::optional<model::TokenizerSpec>> readTokenizerFolder(const std::string &folder);

// What tokenizer_config.json (or special_tokens_map.json) adds to a tokenizer.json.
Status applyTokenizerConfig(std::string_view text, const std::string &file,
                            model::TokenizerSpec &spec);

} // namespace llmc::tokenizers
