// SPDX-License-Identifier: Apache-2.0
// One clock for all measurements.
#pragma once

#include <chrono>
#include <cstdint>

namespace llmc::tool {

// In the form that the engine times commands with.
inline uint64_t nanosecondsNow() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}
inline double secondsNow() { return static_cast<double>(nanosecondsNow()) * 1e-9; }

} // namespace llmc::tool
