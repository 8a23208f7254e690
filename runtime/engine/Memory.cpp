// SPDX-License-Identifier: Apache-2.0
// The allocator used when the host gives none.
#include "runtime/engine/Memory.h"
#include <cstdlib>

namespace llmc {

static void *allocateWithMalloc(void *, size_t bytes, size_t alignment) {
  void *memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) ? nullptr : memory;
}

static void releaseWithFree(void *, void *memory, size_t, size_t) { free(memory); }

Allocator::Allocator(const llmc_allocator *given)
    : hooks(given ? *given
                  : llmc_allocator{sizeof(llmc_allocator), 0, nullptr, allocateWithMalloc,
                                   releaseWithFree}) {}

} // namespace llmc
