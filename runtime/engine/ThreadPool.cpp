// SPDX-License-Identifier: Apache-2.0
// Our own threads: one queue, one mutex, and an atomic count that idle threads spin on without
// touching the mutex.
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
  queued.fetch_add(1, std::memory_order_relaxed);
  if (sleeping)
    pthread_cond_signal(&wake);
  pthread_mutex_unlock(&mutex);
}

bool ThreadPool::spinForTask() const {
  const uint64_t end = nanoseconds() + spinNanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      if (queued.load(std::memory_order_relaxed) || stopping.load(std::memory_order_relaxed))
        return true;
      pauseCore();
    }
  } while (nanoseconds() < end);
  return false;
}

// Sleeps until there is a task; null when the pool stops and nothing is left.
ThreadPool::Task *ThreadPool::takeTask() {
  spinForTask();
  pthread_mutex_lock(&mutex);
  while (!head && !stopping.load(std::memory_order_relaxed)) {
    ++sleeping;
    pthread_cond_wait(&wake, &mutex);
    --sleeping;
  }
  Task *task = head;
  if (task) {
    head = task->next;
    if (!head)
      tail = nullptr;
    queued.fetch_sub(1, std::memory_order_relaxed);
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
