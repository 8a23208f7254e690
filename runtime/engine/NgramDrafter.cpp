// SPDX-License-Identifier: Apache-2.0
// An ending is noted when the token behind it arrives, so that each entry has something to draft.
#include "runtime/engine/NgramDrafter.h"
#include <algorithm>
#include <cstring>

namespace llmc {
namespace {

uint32_t hashOf(const int32_t *tokens, uint32_t length) {
  uint64_t hash = length;
  for (uint32_t i = 0; i < length; ++i)
    hash = (hash ^ static_cast<uint32_t>(tokens[i])) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 32);
}

} // namespace

bool NgramDrafter::allocate(const Allocator &allocator, uint32_t capacity) {
  for (buckets = 64; buckets < capacity && buckets < 1u << 30;)
    buckets *= 2;
  if (!table.allocate(allocator, static_cast<size_t>(kLengths) * buckets) ||
      !replaced.allocate(allocator, static_cast<size_t>(kLengths) * capacity))
    return false;
  memset(table.data(), 0, table.size() * sizeof(uint32_t));
  return true;
}

uint32_t &NgramDrafter::entry(const int32_t *tokens, uint32_t end, uint32_t length) const {
  const size_t row = static_cast<size_t>(length - kShortest) * buckets;
  return table[row + (hashOf(tokens + end - length, length) & (buckets - 1))];
}

void NgramDrafter::append(const int32_t *tokens, uint32_t index) {
  for (uint32_t length = kShortest; length <= std::min(kLongest, index); ++length) {
    uint32_t &place = entry(tokens, index, length);
    replaced[static_cast<size_t>(index) * kLengths + length - kShortest] = place;
    place = index;
  }
  seen = index + 1;
}

void NgramDrafter::removeLast(const int32_t *tokens) {
  const uint32_t index = --seen;
  for (uint32_t length = std::min(kLongest, index); length >= kShortest; --length)
    entry(tokens, index, length) =
        replaced[static_cast<size_t>(index) * kLengths + length - kShortest];
}

uint32_t NgramDrafter::findEarlier(const int32_t *tokens) const {
  for (uint32_t length = std::min(kLongest, seen); length >= kShortest; --length) {
    const uint32_t place = entry(tokens, seen, length);
    if (place >= length &&
        !memcmp(tokens + place - length, tokens + seen - length, length * sizeof(int32_t)))
      return place;
  }
  return 0;
}

uint32_t NgramDrafter::draft(const int32_t *tokens, uint32_t most, int32_t *drafts) const {
  const uint32_t place = findEarlier(tokens);
  if (!place)
    return 0;
  for (uint32_t i = 0; i < most; ++i) {
    const uint32_t from = place + i;
    drafts[i] = from < seen ? tokens[from] : drafts[from - seen];
  }
  return most;
}

} // namespace llmc
