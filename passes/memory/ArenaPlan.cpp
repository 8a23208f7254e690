// SPDX-License-Identifier: Apache-2.0
//
// First-fit placement of values with lifetimes.
#include "passes/memory/ArenaPlan.h"
#include <algorithm>
#include <numeric>

int64_t llmc::planArena(std::vector<ArenaValue> &values, int64_t alignment) {
  auto rounded = [&](int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (values[a].birth != values[b].birth)
      return values[a].birth < values[b].birth;
    return values[a].bytes != values[b].bytes ? values[a].bytes > values[b].bytes : a < b;
  });

  int64_t total = 0;
  std::vector<size_t> placed; // by offset
  for (size_t index : order) {
    ArenaValue &value = values[index];
    int64_t size = rounded(value.bytes), offset = 0;
    for (size_t other : placed) {
      const ArenaValue &taken = values[other];
      bool together = taken.birth <= value.lastUse && value.birth <= taken.lastUse;
      if (together && taken.offset < offset + size && offset < taken.offset + rounded(taken.bytes))
        offset = taken.offset + rounded(taken.bytes);
    }
    value.offset = offset;
    total = std::max(total, offset + size);
    auto behind = [&](size_t a, size_t b) { return values[a].offset < values[b].offset; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), index, behind), index);
  }
  return total;
}
