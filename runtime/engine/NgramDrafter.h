// SPDX-License-Identifier: Apache-2.0
// Prompt lookup: drafts the tokens that followed the last time that the text ended as it does now.
// One table for each length of ending, from its hash to the place behind its latest occurrence; a
// token costs a few table entries whatever the text's length. Entries may be lost to other endings
// of the same hash, never wrong: what is found is compared.
#pragma once

#include "runtime/engine/Memory.h"
#include <cstdint>

namespace llmc {

class NgramDrafter {
public:
  static constexpr uint32_t kShortest = 2;
  static constexpr uint32_t kLongest = 4;

  // For texts of up to `capacity` tokens. False: no memory.
  bool allocate(const Allocator &allocator, uint32_t capacity);

  // `tokens` has all of the text; the entries below `length` have been seen before, or are seen now
  // one by one.
  void append(const int32_t *tokens, uint32_t index);
  // Takes back the latest append; `tokens` still has what it had then.
  void removeLast(const int32_t *tokens);
  uint32_t length() const { return seen; }

  // Up to `most` tokens that may follow; the longest ending that was seen before decides. Beyond
  // the end of the text it goes on with its own draft.
  uint32_t draft(const int32_t *tokens, uint32_t most, int32_t *drafts) const;

private:
  static constexpr uint32_t kLengths = kLongest - kShortest + 1;

  uint32_t &entry(const int32_t *tokens, uint32_t end, uint32_t length) const;
  uint32_t findEarlier(const int32_t *tokens) const;

  Buffer<uint32_t> table;    // [kLengths, buckets]: place behind the ending; 0: none
  Buffer<uint32_t> replaced; // [capacity, kLengths]: what each token's entries held before
  uint32_t buckets = 0;      // a power of two
  uint32_t seen = 0;
};

} // namespace llmc
