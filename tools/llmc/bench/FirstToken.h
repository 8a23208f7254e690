// SPDX-License-Identifier: Apache-2.0
// What a fresh process says about its way to the first token: a line of text between the two sides
// of `llmc bench --start`.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>

namespace llmc::tool {

constexpr uint32_t kFirstPrompt = 5;    // tokens
constexpr uint32_t kFirstSession = 256; // tokens, or as many as the model has positions
constexpr char kFirstTokenReady = '\n'; // written as soon as the token is there

// Times of the clock that all processes share, in nanoseconds; memory in bytes.
struct FirstToken {
  uint64_t begun = 0;     // the command
  uint64_t opened = 0;    // the model
  uint64_t session = 0;   // made
  uint64_t token = 0;     // picked
  uint64_t peak = 0;      // of resident memory
  uint64_t modelFile = 0; // of it, pages of the model's files at the end
  uint64_t anonymous = 0; // of it, memory of no file at the end
};

std::string toLine(const FirstToken &first);
// False where the line is something else.
bool fromLine(const std::string &line, FirstToken &first);

} // namespace llmc::tool
