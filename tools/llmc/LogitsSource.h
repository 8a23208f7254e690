// SPDX-License-Identifier: Apache-2.0
// Where `llmc eval` takes rows of logits from: a compiled model, one that is compiled for the
// occasion, or a .npy file.
#pragma once

#include "tools/llmc/LoadedModel.h"
#include <cstdio>
#include <string>

namespace llmc::tool {

class LogitsSource {
public:
  virtual ~LogitsSource() = default;
  // The next tokens belong to a new text.
  virtual Status begin() = 0;
  // Logits [count, vocabulary] after each of the next tokens of the text; borrowed until the next
  // call.
  virtual Result<const float *> next(const int32_t *tokens, uint32_t count) = 0;
  virtual uint32_t vocabulary() const = 0;
};

// `mostRows`: tokens of a call; `longest`: of a text.
Result<std::unique_ptr<LogitsSource>> sourceOfModel(LoadedModel loaded, uint32_t longest,
                                                    uint32_t mostRows);

// By what the file is: a .npy of float32 [tokens, vocabulary], a model.so, or else a model that
// llmc-compiler turns into a model.so of float32 in a temporary folder, which is gone again when
// this returns. `tokens`: of the whole evaluation.
Result<std::unique_ptr<LogitsSource>> sourceOf(const std::string &path, uint32_t threads,
                                               uint32_t longest, uint32_t mostRows,
                                               uint64_t tokens);

} // namespace llmc::tool
