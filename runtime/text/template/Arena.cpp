// SPDX-License-Identifier: Apache-2.0
// Memory of one rendering.
#include "runtime/text/template/Arena.h"

namespace llmc::templates {

constexpr size_t kStep = 16;
constexpr size_t kFirstBlock = 16 << 10;
constexpr size_t kLargestBlock = 1 << 20; // of those that are not for one large piece

Arena::~Arena() {
  while (block) {
    Block *previous = block->previous;
    allocator.release(block, block->bytes);
    block = previous;
  }
}

void *Arena::allocate(size_t bytes) {
  if (bytes > limit) {
    reached = true;
    return nullptr;
  }
  bytes = (bytes + kStep - 1) / kStep * kStep;
  if ((!block || block->bytes - used < bytes) && !grow(bytes))
    return nullptr;
  void *memory = reinterpret_cast<char *>(block) + used;
  used += bytes;
  return memory;
}

bool Arena::grow(size_t bytes) {
  static_assert(sizeof(Block) % kStep == 0, "what follows the head is aligned");
  size_t size = block ? block->bytes * 2 : kFirstBlock;
  size = size < kLargestBlock ? size : kLargestBlock;
  size = size < bytes + sizeof(Block) ? bytes + sizeof(Block) : size;
  reached = size > limit - taken;
  void *memory = reached ? nullptr : allocator.allocate(size);
  if (!memory)
    return false;
  block = new (memory) Block{block, size};
  used = sizeof(Block);
  taken += size;
  return true;
}

} // namespace llmc::templates
