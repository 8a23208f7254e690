// SPDX-License-Identifier: Apache-2.0
// How tokens are picked, from the words of the command line to a generator of the library.
#pragma once

#include "llmc/generate.h"
#include "tools/llmc/LoadedModel.h"
#include <vector>

namespace llmc::tool {

using GeneratorOwner = std::unique_ptr<llmc_generator, Destroyer<llmc_generator_destroy>>;

// A sequence of a session with its generator; owns neither model nor session.
struct Writer {
  llmc_session *session = nullptr;
  llmc_sequence *sequence = nullptr;
  GeneratorOwner generator;

  Status append(const std::vector<int32_t> &tokens);
  // The next tokens; `most` as in llmc_generator_next. *cancelled (may be NULL) tells that a
  // failure was llmc_session_cancel.
  Result<llmc_generated> next(uint32_t most, bool *cancelled = nullptr);
  Status truncate(uint32_t length);
  std::vector<int32_t> tokens() const;
};

// Rows of logits that a step of the session must be able to give.
uint32_t outputsFor(const SamplingOptions &options);
Result<Writer> makeWriter(llmc_session *session, const SamplingOptions &options, bool ignoreEos);

} // namespace llmc::tool
