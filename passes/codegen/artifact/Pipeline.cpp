// SPDX-License-Identifier: Apache-2.0
// POSIX threads: std::thread would throw where there are none left.
#include "passes/codegen/artifact/Pipeline.h"

#include <pthread.h>
#include <sched.h>
#include <thread>
#include <vector>

namespace llmc::artifact {
namespace {

void *runWork(void *work) {
  (*static_cast<const std::function<void()> *>(work))();
  return nullptr;
}

} // namespace

void onThreads(unsigned count, const std::function<void()> &work) {
  std::vector<pthread_t> threads;
  for (pthread_t thread; threads.size() + 1 < count; threads.push_back(thread))
    if (pthread_create(&thread, nullptr, runWork,
                       const_cast<std::function<void()> *>(&work)))
      break;
  work();
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

unsigned usableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return unsigned(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

} // namespace llmc::artifact
