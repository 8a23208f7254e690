// SPDX-License-Identifier: Apache-2.0
// What a run took, for stderr. The first new token comes out of the prompt's logits, so it belongs
// to the prompt's time.
#pragma once

#include <cstddef>

namespace llmc::tool {

struct RunTimes {
  size_t promptTokens = 0;
  double promptSeconds = 0;
  size_t newTokens = 0;
  size_t firstTokens = 0; // of them, those that came with a prompt
  double newSeconds = 0;
  size_t drafted = 0;
  size_t accepted = 0;
};
void printTimes(const RunTimes &times);

} // namespace llmc::tool
