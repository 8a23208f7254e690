// SPDX-License-Identifier: Apache-2.0
// Our own threads: one queue, one mutex, and an atomic count that idle threads spin on without
// touching the mutex. It changes, and sleepers are woken, when the mutex is free again, so that
// nobody waits for it in the kernel.
#include "runtime/engine/ThreadPool.h"
#include "runtime/engine/Error.h"
#include "runtime/engine/Pause.h"
#include <cstring>
#include <time.h>

namespace llmc {

static uint64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

ThreadPool::ThreadPool() {
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&wake, nullptr);
}

ThreadPool::~ThreadPool() {
  pthread_mutex_lock(&mutex);
  stopping.store(true, std::memory_order_relaxed);
  pthread_cond_broadcast(&wake);
  pthread_mutex_unlock(&mutex);
  for (uint32_t i = 0; i < running; ++i)
    pthread_join(threads[i], nullptr);
  pthread_cond_destroy(&wake);
  pthread_mutex_destroy(&mutex);
}

llmc_status ThreadPool::start(const Allocator &allocator, uint32_t count, uint32_t spinMicroseconds,
                              llmc_error *error) {
  spinNanoseconds = static_cast<uint64_t>(spinMicroseconds) * 1000u;
  if (!threads.allocate(allocator, count))
    return fail(error, LLMC_OUT_OF_MEMORY, "context: error: no memory for %u threads", count);
  while (running < count) {
    if (int code = pthread_create(&threads[running], nullptr, threadMain, this))
      return fail(error, LLMC_SYSTEM_ERROR,
                  "context: error: found room for %u threads (%s), expected %u; ask for fewer",
                  running + 1, strerror(code), count + 1);
    ++running;
  }
  return LLMC_OK;
}

void ThreadPool::submit(Task *task) {
  task->next = nullptr;
  pthread_mutex_lock(&mutex);
  if (tail)
    tail->next = task;
  else
    head = task;
  tail = task;
  const bool wakes = sleeping != 0;
  pthread_mutex_unlock(&mutex);
  submitted.fetch_add(1, std::memory_order_release);
  if (wakes)
    pthread_cond_signal(&wake);
}

// Until something is submitted that was not when `seen` was read.
void ThreadPool::spin(uint32_t seen) const {
  const uint64_t end = nanoseconds() + spinNanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (submitted.load(std::memory_order_acquire) != seen ||
          stopping.load(std::memory_order_relaxed))
        return;
      pauseCore();
    }
  } while (nanoseconds() < end);
}

// The mutex is held.
ThreadPool::Task *ThreadPool::popTask() {
  Task *task = head;
  if (task) {
    head = task->next;
    if (!head)
      tail = nullptr;
  }
  return task;
}

// Spins, then sleeps until there is a task; null when the pool stops and nothing is left.
ThreadPool::Task *ThreadPool::takeTask() {
  const uint32_t seen = submitted.load(std::memory_order_acquire);
  pthread_mutex_lock(&mutex);
  Task *task = popTask();
  pthread_mutex_unlock(&mutex);
  if (task)
    return task;
  spin(seen);
  pthread_mutex_lock(&mutex);
  while (!(task = popTask()) && !stopping.load(std::memory_order_relaxed)) {
    ++sleeping;
    pthread_cond_wait(&wake, &mutex);
    --sleeping;
  }
  pthread_mutex_unlock(&mutex);
  return task;
}

void ThreadPool::work() {
  while (Task *task = takeTask()) {
    void (*run)(void *) = task->run;
    void *argument = task->argument;
    run(argument); // From here on the link may be in the queue again.
  }
}

void *ThreadPool::threadMain(void *pool) {
  static_cast<ThreadPool *>(pool)->work();
  return nullptr;
}

} // namespace llmc
