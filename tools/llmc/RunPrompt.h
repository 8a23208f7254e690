// SPDX-License-Identifier: Apache-2.0
// The prompt of `llmc run`: read and checked before the model is opened, turned into tokens after.
#pragma once

#include "tools/llmc/LoadedModel.h"
#include <vector>

namespace llmc::tool {

struct GivenPrompt {
  std::string where; // what to call it in errors
  bool isText = false;
  std::vector<int64_t> ids;
  std::string text;
};
Result<GivenPrompt> readPrompt(const RunOptions &options);

// The prompt as tokens of the model; at least one.
Result<std::vector<int32_t>> promptTokens(const GivenPrompt &given, const RunOptions &options,
                                          const LoadedModel &loaded);

// New tokens that the model has room for after `promptTokens`: what was asked for, or the default
// as far as it fits. More asked for than there is room is an error, and so is a prompt without any.
Result<uint32_t> newTokensFor(const GivenPrompt &given, size_t promptTokens,
                              const RunOptions &options, const llmc_model_info &info);

} // namespace llmc::tool
