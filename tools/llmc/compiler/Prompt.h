// SPDX-License-Identifier: Apache-2.0
//
// The prompt as the commands of llmc-compiler take it: --prompt-ids or --prompt-ids-file, as in
// `llmc run`.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>

namespace llmc::tool {

struct PromptOptions {
  std::string ids;  ///< "1,2,3"
  std::string file; ///< a file with the same
};

/// The tokens: at least one, all of them inside the vocabulary.
Result<std::vector<int32_t>> readPrompt(const PromptOptions &options, int64_t vocabulary);

} // namespace llmc::tool
