// SPDX-License-Identifier: Apache-2.0
//
// First-fit placement: a known plan, and random lifetimes that never share a byte while both live.
#include "passes/memory/ArenaPlan.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using llmc::ArenaValue;
using llmc::planArena;

static ArenaValue value(int64_t birth, int64_t lastUse, int64_t bytes) {
  ArenaValue v;
  v.birth = birth;
  v.lastUse = lastUse;
  v.bytes = bytes;
  return v;
}

TEST(ArenaPlan, NothingNeedsNothing) {
  std::vector<ArenaValue> none;
  EXPECT_EQ(planArena(none, 64), 0);
}

TEST(ArenaPlan, AKnownPlan) {
  // A chain a -> b -> c -> d with a read again by c: c cannot take a's place, d can.
  std::vector<ArenaValue> values{value(0, 2, 100), value(1, 2, 64), value(2, 3, 10),
                                 value(3, 3, 128)};
  EXPECT_EQ(planArena(values, 64), 128 + 64 + 64);
  EXPECT_EQ(values[0].offset, 0); // 100 rounded up to 128
  EXPECT_EQ(values[1].offset, 128);
  EXPECT_EQ(values[2].offset, 192);
  EXPECT_EQ(values[3].offset, 0); // a is dead
}

TEST(ArenaPlan, AHoleThatIsTooSmallIsLeft) {
  // The first place is free again, with 64 bytes before the second value; 128 do not fit there.
  std::vector<ArenaValue> values{value(0, 0, 64), value(0, 2, 32), value(1, 2, 128),
                                 value(2, 2, 64)};
  EXPECT_EQ(planArena(values, 64), 256);
  EXPECT_EQ(values[1].offset, 64);
  EXPECT_EQ(values[2].offset, 128);
  EXPECT_EQ(values[3].offset, 0);
}

TEST(ArenaPlan, OfTwoBornTogetherTheLargerComesFirst) {
  std::vector<ArenaValue> values{value(0, 1, 64), value(0, 1, 256)};
  EXPECT_EQ(planArena(values, 64), 320);
  EXPECT_EQ(values[1].offset, 0);
  EXPECT_EQ(values[0].offset, 256);
}

TEST(ArenaPlan, AValueReadByTheLaunchThatWritesAnotherKeepsItsPlace) {
  std::vector<ArenaValue> values{value(0, 1, 64), value(1, 2, 64)};
  EXPECT_EQ(planArena(values, 64), 128);
}

/// Bytes that live at once at the fullest moment: no plan is smaller.
static int64_t leastPossible(const std::vector<ArenaValue> &values, int64_t alignment) {
  int64_t most = 0;
  for (const ArenaValue &at : values) {
    int64_t live = 0;
    for (const ArenaValue &v : values)
      if (v.birth <= at.birth && at.birth <= v.lastUse)
        live += (v.bytes + alignment - 1) / alignment * alignment;
    most = std::max(most, live);
  }
  return most;
}

TEST(ArenaPlan, RandomLifetimesNeverOverlap) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<ArenaValue> values;
    for (int i = 0, count = 1 + int(random() % 60); i < count; ++i) {
      int64_t birth = random() % 40;
      values.push_back(value(birth, birth + int64_t(random() % 10), 1 + int64_t(random() % 5000)));
    }
    int64_t total = planArena(values, 64);
    int64_t end = 0;
    for (size_t a = 0; a < values.size(); ++a) {
      ASSERT_GE(values[a].offset, 0) << "seed " << seed;
      ASSERT_EQ(values[a].offset % 64, 0) << "seed " << seed;
      end = std::max(end, (values[a].offset + values[a].bytes + 63) / 64 * 64);
      for (size_t b = 0; b < a; ++b) {
        bool together =
            values[a].birth <= values[b].lastUse && values[b].birth <= values[a].lastUse;
        bool apart = values[a].offset + values[a].bytes <= values[b].offset ||
                     values[b].offset + values[b].bytes <= values[a].offset;
        ASSERT_TRUE(!together || apart) << "seed " << seed << ": values " << a << " and " << b;
      }
    }
    EXPECT_EQ(total, end) << "seed " << seed;
    EXPECT_GE(total, leastPossible(values, 64)) << "seed " << seed;
  }
}
