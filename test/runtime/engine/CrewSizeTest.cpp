// SPDX-License-Identifier: Apache-2.0
// How many helpers steps call, for given times of steps and lateness.
#include "runtime/engine/CrewSize.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

constexpr uint64_t kStep = 1 << 24;
constexpr uint64_t kStall = 1 << 24;

// Steps until as many helpers are called, at most `limit`.
uint64_t stepsUntil(CrewSize &size, uint32_t helpers, uint64_t late, uint64_t limit = 1 << 20) {
  uint64_t steps = 0;
  for (; size.helpers() != helpers && steps < limit; ++steps)
    size.note(kStep, late);
  return steps;
}

TEST(CrewSize, AllStayWhileNobodyIsLate) {
  CrewSize size(3);
  for (int i = 0; i < 1000; ++i)
    size.note(kStep, 0);
  EXPECT_EQ(size.helpers(), 3u);
}

TEST(CrewSize, AFewLateStepsAreForgiven) {
  CrewSize size(1);
  for (int i = 0; i < 1000; ++i)
    size.note(kStep, i % 5 ? 0 : kStall); // a fifth of the time is lost
  EXPECT_EQ(size.helpers(), 1u);
}

TEST(CrewSize, OneIsSentOffWhenMuchIsLost) {
  CrewSize size(3);
  EXPECT_LE(stepsUntil(size, 2, kStall / 2), 16u); // half of the time
}

TEST(CrewSize, OneStallHoweverLongSendsOffOne) {
  CrewSize size(3);
  size.note(uint64_t(1) << 40, uint64_t(1) << 40); // stopped in a debugger
  EXPECT_EQ(size.helpers(), 2u);
  size.note(kStep, 0);
  EXPECT_EQ(size.helpers(), 2u);
}

TEST(CrewSize, ComesBackAfterARest) {
  CrewSize size(1);
  stepsUntil(size, 0, kStall);
  const uint64_t steps = stepsUntil(size, 1, 0);
  EXPECT_EQ(steps, CrewSize::kShortestRest / kStep);
}

TEST(CrewSize, RestsDoubleWhileCallingBackIsInVain) {
  CrewSize size(1);
  uint64_t before = 0;
  for (int i = 0; i < 5; ++i) {
    stepsUntil(size, 0, kStall);
    const uint64_t steps = stepsUntil(size, 1, 0);
    EXPECT_EQ(steps, before ? before * 2 : CrewSize::kShortestRest / kStep);
    before = steps;
  }
  for (int i = 0; i < 20; ++i) {
    stepsUntil(size, 0, kStall);
    EXPECT_LE(stepsUntil(size, 1, 0), CrewSize::kLongestRest / kStep);
  }
}

TEST(CrewSize, ARestIsShortAgainAfterAGoodTime) {
  CrewSize size(1);
  for (int i = 0; i < 4; ++i) {
    stepsUntil(size, 0, kStall);
    stepsUntil(size, 1, 0);
  }
  for (uint64_t i = 0; i < 2 * CrewSize::kLongestRest / kStep; ++i)
    size.note(kStep, 0);
  stepsUntil(size, 0, kStall);
  EXPECT_EQ(stepsUntil(size, 1, 0), CrewSize::kShortestRest / kStep);
}

TEST(CrewSize, AllMayBeSentOffAndAllComeBack) {
  CrewSize size(4);
  stepsUntil(size, 0, kStall);
  EXPECT_EQ(size.helpers(), 0u);
  stepsUntil(size, 4, 0);
  EXPECT_EQ(size.helpers(), 4u);
}

TEST(CrewSize, WithoutHelpersThereIsNobodyToSendOff) {
  CrewSize size(0);
  for (int i = 0; i < 100; ++i)
    size.note(kStep, kStall);
  EXPECT_EQ(size.helpers(), 0u);
}

} // namespace
} // namespace llmc::test
