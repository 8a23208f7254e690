// SPDX-License-Identifier: Apache-2.0
// The allocator used when the host gives none, and a wish for huge pages.
#include "runtime/engine/Memory.h"
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace llmc {

void preferHugePages(void *memory, size_t bytes) {
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes,
                  end = (reinterpret_cast<uintptr_t>(memory) + bytes) / kHugePageBytes * kHugePageBytes;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

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
