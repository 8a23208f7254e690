// SPDX-License-Identifier: Apache-2.0
// Weights in memory of our own instead of the mapped file: read once, by all threads of the
// context, into memory that is asked for in huge pages. A mapped file has pages of 4 KiB.
#include "runtime/engine/Error.h"
#include "runtime/engine/Model.h"
#include "runtime/engine/Pause.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace llmc {
namespace {

// Pieces of the copy, claimed by threads.
class Copying {
public:
  Copying(char *to, const char *from, size_t bytes) : to(to), from(from), bytes(bytes) {}

  static void run(void *copying) { static_cast<Copying *>(copying)->work(); }
  void work() {
    for (size_t at; (at = next.fetch_add(kHugePageBytes, std::memory_order_relaxed)) < bytes;)
      memcpy(to + at, from + at, std::min(kHugePageBytes, bytes - at));
    left.fetch_add(1, std::memory_order_release);
  }
  // Until so many threads have left; all is copied then.
  void waitFor(uint32_t threads) const {
    Backoff backoff;
    while (left.load(std::memory_order_acquire) < threads)
      backoff.wait();
  }

private:
  char *const to;
  const char *const from;
  const size_t bytes;
  std::atomic<size_t> next{0};
  std::atomic<uint32_t> left{0};
};

// With the context's own threads; a host's pool may run a task never, and it could not be waited
// for.
void copyWith(llmc_context &context, Copying &copying, Buffer<ThreadPool::Task> &tasks) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    tasks[i] = {Copying::run, &copying, nullptr};
    context.ownPool.submit(&tasks[i]);
  }
  copying.work();
  copying.waitFor(static_cast<uint32_t>(tasks.size()) + 1);
}

// The mapping stays, its pages need not.
void dropPages(const void *begin, size_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + bytes) / page * page;
  if (first < end)
    madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
}

} // namespace

llmc_status copyWeights(llmc_model &model, const char *file, llmc_error *error) {
  const uint64_t bytes = model.artifact->weights_bytes;
  if (!bytes)
    return LLMC_OK;
  llmc_context &context = model.context;
  model.copyBytes = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  model.copy = context.allocator.allocate(model.copyBytes, kHugePageBytes);
  Buffer<ThreadPool::Task> tasks;
  if (!model.copy || !tasks.allocate(context.allocator, context.ownPool.size()))
    return fail(error, LLMC_OUT_OF_MEMORY,
                "%s: weights: error: no memory for a copy of %llu bytes; leave them mapped", file,
                static_cast<unsigned long long>(model.copyBytes));
  preferHugePages(model.copy, model.copyBytes);
  Copying copying(static_cast<char *>(model.copy), static_cast<const char *>(model.weights), bytes);
  copyWith(context, copying, tasks);
  if (model.weightsMap) {
    munmap(model.weightsMap, model.weightsMapBytes);
    model.weightsMap = nullptr;
  } else if (model.library) {
    dropPages(model.weights, bytes);
  }
  model.weights = model.copy;
  return LLMC_OK;
}

} // namespace llmc
