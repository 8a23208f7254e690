// SPDX-License-Identifier: Apache-2.0
// A tokenizer as data becomes the block of bytes that travels in an artefact
// (llmc/tokenizer_abi.h): hash tables, tries, texts, patterns in PCRE2's syntax. No LLVM here. Uses
// runtime/text, so that compiler and runtime normalise and merge by the same code, and opens what
// it made before it hands it out.
#pragma once

#include "dialects/model/TokenizerSpec.h"

namespace llmc::tokenizer {

// The block for `spec`; errors name `file`. The same spec gives the same bytes.
Result<std::string> buildTables(const model::TokenizerSpec &spec, const std::string &file);

} // namespace llmc::tokenizer
