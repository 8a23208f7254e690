// SPDX-License-Identifier: Apache-2.0
// A context: where memory, threads and log lines go. Counted, so that models may outlive the host's
// handle.
#pragma once

#include "runtime/engine/Memory.h"
#include "runtime/engine/ThreadPool.h"
#include <atomic>

struct llmc_context {
  explicit llmc_context(const llmc::Allocator &allocator) : allocator(allocator) {}

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // Threads that may help the caller of a step.
  uint32_t helpers() const;
  __attribute__((format(printf, 3, 4))) void note(llmc_log_level level, const char *format,
                                                  ...) const;

  const llmc::Allocator allocator;
  llmc_pool hostPool{};
  bool hasHostPool = false;
  llmc_log log{};
  llmc::ThreadPool ownPool;

private:
  std::atomic<uint32_t> references{1};
};
