// SPDX-License-Identifier: Apache-2.0
// What a thread of the engine does between two looks at a word that another thread is about to
// change.
#pragma once

#include <cstdint>
#include <sched.h>

namespace llmc {

inline void pauseCore() { __builtin_ia32_pause(); }

// The time stamp counter.
inline uint64_t ticksNow() { return __builtin_ia32_rdtsc(); }

// For waits that are normally over at once: a few pauses, then the core goes to others.
class Backoff {
public:
  void wait() {
    if (turns < 256) {
      ++turns;
      pauseCore();
    } else {
      sched_yield();
    }
  }

private:
  unsigned turns = 0;
};

} // namespace llmc
