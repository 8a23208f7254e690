// SPDX-License-Identifier: Apache-2.0
// Threads that do the same thing at the same time, for the short while that something is measured.
// They spin between two pieces of work, so nothing else should run while a gang exists.
#pragma once

#include "dialects/model/Error.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <pthread.h>
#include <vector>

namespace llmc::ceilings {

class Gang {
public:
  // `threads` with the caller's.
  static Result<std::unique_ptr<Gang>> start(uint32_t threads);
  ~Gang();
  Gang(const Gang &) = delete;
  Gang &operator=(const Gang &) = delete;

  // work(i) in thread i of all, at once; the seconds from the first begin to the last end.
  double run(const std::function<void(uint32_t)> &work);

private:
  struct Member {
    Gang *gang;
    uint32_t index;
    pthread_t thread;
    double begin, end;
  };

  Gang() = default;
  static void *memberMain(void *member);
  void take(Member &member);

  std::vector<Member> members;                         // [0] is the caller
  uint32_t started = 0;                                // threads to join, [1] to [started]
  const std::function<void(uint32_t)> *work = nullptr; // null: go home
  std::atomic<uint32_t> round{0};
  std::atomic<uint32_t> ready{0};
  std::atomic<uint32_t> finished{0};
};

} // namespace llmc::ceilings
