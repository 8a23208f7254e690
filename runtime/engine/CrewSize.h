// SPDX-License-Identifier: Apache-2.0
// How many helpers a session's steps call. A thread that has lost its core to another process may
// hold a chunk, and then holds all others; the step says how long they waited. While that is a
// small part of the time, all helpers stay. When it is not, one fewer is called, so that the kernel
// has a core for each of the rest; it is called again after a while, later each time that it is in
// vain. Which helper is left out does not matter: the kernel moves the threads that remain.
#pragma once

#include <cstdint>

namespace llmc {

class CrewSize {
public:
  // All times are ticks of the time stamp counter, 1 to 5 in a nanosecond.
  static constexpr uint64_t kForgiven = 4; // one part in so many may be lost: a helper gains more
  static constexpr uint64_t kMostDebt = uint64_t(1) << 24; // beyond that: 4 to 16 milliseconds
  static constexpr uint64_t kShortestRest = uint64_t(1) << 27;
  static constexpr uint64_t kLongestRest = uint64_t(1) << 32; // of steps: 1 to 4 seconds

  explicit CrewSize(uint32_t most) : most(most), called(most) {}

  uint32_t helpers() const { return called; }
  // After each step: how long it took, and how much of that its threads waited for a late one.
  void note(uint64_t step, uint64_t late);

private:
  void sendOneOff();
  void callOneBack(uint64_t step);

  const uint32_t most;
  uint32_t called;
  uint64_t debt = 0;                // lateness that has not been made good
  uint64_t rest = kShortestRest;    // how long the last one was sent off for
  uint64_t left = 0;                // of that rest
  uint64_t together = kLongestRest; // time since one was called back
};

} // namespace llmc
