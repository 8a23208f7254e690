// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/RunTimes.h"
#include "tools/llmc/Format.h"
#include <cstdio>

namespace llmc::tool {

void printTimes(const RunTimes &times) {
  const double perSecond =
      times.promptSeconds > 0 ? static_cast<double>(times.promptTokens) / times.promptSeconds : 0;
  fprintf(stderr, "prompt: %zu tokens in %s, %.1f tok/s\n", times.promptTokens,
          timeInWords(times.promptSeconds).c_str(), perSecond);
  const size_t later = times.newTokens - times.firstTokens;
  if (later && times.newSeconds > 0)
    fprintf(stderr, "new: %zu tokens, %zu after the first in %s, %.1f tok/s\n", times.newTokens,
            later, timeInWords(times.newSeconds).c_str(),
            static_cast<double>(later) / times.newSeconds);
  else
    fprintf(stderr, "new: %zu tokens\n", times.newTokens);
  if (times.drafted)
    fprintf(stderr, "drafts: %zu tokens tried, %zu right\n", times.drafted, times.accepted);
}

} // namespace llmc::tool
