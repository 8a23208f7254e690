// SPDX-License-Identifier: Apache-2.0
// tokenizer.json of the `tokenizers` library as a TokenizerSpec: byte pair encoding over bytes or
// characters. What it does not know is refused by name, and what contradicts itself (ids, merges)
// is refused too.
#pragma once

#include "dialects/model/ModelConfig.h"
#include "dialects/model/TokenizerSpec.h"
#include "frontends/json/Value.h"

namespace llmc::tokenizers {

// `text` is the file's content, `file` its name for errors.
Result<model::TokenizerSpec> parseTokenizerJson(std::string_view text, const std::string &file);

} // namespace llmc::tokenizers
