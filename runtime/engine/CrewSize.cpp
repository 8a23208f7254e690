// SPDX-License-Identifier: Apache-2.0
// A leaky bucket of lateness, and a rest that doubles while calling back is in vain.
#include "runtime/engine/CrewSize.h"
#include <algorithm>

namespace llmc {

void CrewSize::note(uint64_t step, uint64_t late) {
  debt -= std::min(debt, step / kForgiven);
  debt += std::min(late, step); // a step cannot lose more than it took
  together = std::min(together + std::min(step, kLongestRest), kLongestRest);
  if (called && debt > kMostDebt)
    sendOneOff();
  else if (called < most)
    callOneBack(step);
}

void CrewSize::sendOneOff() {
  --called;
  // Not kept for long: what slowed it down is still there.
  rest = together < rest ? std::min(rest * 2, kLongestRest) : kShortestRest;
  left = rest;
  debt = kMostDebt / 2;
}

void CrewSize::callOneBack(uint64_t step) {
  left -= std::min(left, step);
  if (left)
    return;
  ++called;
  left = rest;
  together = 0;
  debt = kMostDebt / 2; // on trial
}

} // namespace llmc
