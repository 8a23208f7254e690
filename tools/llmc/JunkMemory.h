// SPDX-License-Identifier: Apache-2.0
// An allocator that fills what it gives with seeded junk, NaNs and huge numbers among it. A session
// made with it starts with junk in its KV pages and arenas; results must not change.
#pragma once

#include "llmc/llmc.h"
#include <atomic>

namespace llmc::tool {

class JunkMemory {
public:
  explicit JunkMemory(uint64_t seed) : next(seed) {}
  // Must outlive all that was made with it.
  llmc_allocator allocator() { return {sizeof(llmc_allocator), 0, this, allocate, release}; }

private:
  static void *allocate(void *user, size_t bytes, size_t alignment);
  static void release(void *user, void *memory, size_t bytes, size_t alignment);

  std::atomic<uint64_t> next; // seed of the next block
};

} // namespace llmc::tool
