// SPDX-License-Identifier: Apache-2.0
// A counter through a mixing function, eight bytes at a time.
#include "tools/llmc/JunkMemory.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace llmc::tool {

void *JunkMemory::allocate(void *user, size_t bytes, size_t alignment) {
  void *memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void *)), bytes))
    return nullptr;
  uint64_t state = static_cast<JunkMemory *>(user)->next.fetch_add(1) * 0x9e3779b97f4a7c15u;
  for (size_t at = 0; at < bytes; at += sizeof state) {
    state = (state ^ state >> 29) * 0xbf58476d1ce4e5b9u + 1;
    memcpy(static_cast<char *>(memory) + at, &state, std::min(sizeof state, bytes - at));
  }
  return memory;
}

void JunkMemory::release(void *, void *memory, size_t, size_t) { free(memory); }

} // namespace llmc::tool
