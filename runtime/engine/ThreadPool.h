// SPDX-License-Identifier: Apache-2.0
// Our own threads, for hosts that give none. They take tasks in order, spin a while when there is
// none, then sleep. Tasks are links owned by whoever submits them, so submitting allocates nothing
// and cannot fail.
#pragma once

#include "runtime/engine/Memory.h"
#include <atomic>
#include <pthread.h>

namespace llmc {

class ThreadPool {
public:
  struct Task {
    void (*run)(void *argument) = nullptr;
    void *argument = nullptr;
    Task *next = nullptr;
  };

  ThreadPool();
  ~ThreadPool(); // Runs what was submitted, then joins.

  llmc_status start(const Allocator &allocator, uint32_t count, uint32_t spinMicroseconds,
                    llmc_error *error);
  // The task may be submitted again as soon as it has begun to run.
  void submit(Task *task);
  uint32_t size() const { return running; }

private:
  static void *threadMain(void *pool);
  void work();
  void spin(uint32_t seen) const;
  Task *popTask();
  Task *takeTask();

  Buffer<pthread_t> threads;
  uint32_t running = 0;
  uint64_t spinNanoseconds = 0;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  Task *head = nullptr;
  Task *tail = nullptr;
  uint32_t sleeping = 0;
  std::atomic<uint32_t> submitted{0};
  std::atomic<bool> stopping{false};
};

} // namespace llmc
