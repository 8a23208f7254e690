// SPDX-License-Identifier: Apache-2.0
//
// How the keys of a row are parted among programs that attend at the same time: by the row's place
// alone, so that a row has the same partial results in every step.
#pragma once

#include <algorithm>
#include <cstdint>

namespace llmc::llm {

/// Fewer chunks of 64 keys are not worth a program of their own.
constexpr int64_t kLeastChunksOfPart = 4;

/// The first chunk that rows of chunk `own` look at; `window` 0: none.
inline int64_t firstChunkSeen(int64_t own, int64_t window, int64_t keysOfChunk) {
  return window > 0 ? std::max<int64_t>(own * keysOfChunk - (window - 1), 0) / keysOfChunk : 0;
}

/// Of the chunks that a row looks at, how many each part takes but the last ones, which have fewer
/// or none.
inline int64_t chunksOfPart(int64_t chunks, int64_t parts) {
  return std::max((chunks + parts - 1) / parts, kLeastChunksOfPart);
}

/// Where numbers lie in a row of partial results: [part][head][value width] sums of values, then
/// [part][head] maxima, then [part][head] sums of exponentials. All are 0 of a part without keys.
struct PartialRow {
  int64_t parts, heads, value;

  int64_t maxima() const { return parts * heads * value; }
  int64_t sums() const { return maxima() + parts * heads; }
  int64_t width() const { return sums() + parts * heads; }
};

} // namespace llmc::llm
