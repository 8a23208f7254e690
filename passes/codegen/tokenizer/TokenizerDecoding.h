// SPDX-License-Identifier: Apache-2.0
// A tokenizer's decoder steps, carried out on each token when compiling, so that the runtime joins
// texts and has only what depends on neighbours left to do.
#pragma once

#include "dialects/model/TokenizerSpec.h"

namespace llmc::tokenizer {

struct Decoding {
  std::vector<std::string> texts; // by token; of byte tokens the one byte
  std::vector<bool> isByte;       // by token: part of a run of bytes
  uint32_t flags = 0;             // LLMC_TOKENIZER_JOIN_SPACES, ..._BYTE_RUNS, ..._STRIP_MARK
  std::string mark;               // of a Metaspace step
  std::string strip;              // goes at the start of a text, `stripCount` times
  uint32_t stripCount = 0;
};

// Errors name `file` and the step.
Result<Decoding> planDecoding(const model::TokenizerSpec &spec, const std::string &file);

} // namespace llmc::tokenizer
