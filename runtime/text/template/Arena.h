// SPDX-License-Identifier: Apache-2.0
// Memory of one rendering: taken piece by piece from the host's allocator up to a limit, given back
// all at once. Values need no destructor.
#pragma once

#include "runtime/engine/Memory.h"

namespace llmc::templates {

class Arena {
public:
  Arena(const Allocator &allocator, size_t limit) : allocator(allocator), limit(limit) {}
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena();

  // Aligned to 16 bytes, not initialised. Null beyond the limit, or when the host has no memory.
  void *allocate(size_t bytes);
  // Whether it was the limit that made the last allocate() fail.
  bool limitReached() const { return reached; }

private:
  struct Block {
    Block *previous;
    size_t bytes;
  };
  bool grow(size_t bytes);

  const Allocator &allocator;
  size_t limit;
  size_t taken = 0; // from the host
  Block *block = nullptr;
  size_t used = 0; // of the newest block
  bool reached = false;
};

} // namespace llmc::templates
