// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 against the known answers that its authors publish (Random123, kat_vectors), and
// uniform numbers out of it; the exponential against libm.
#include "runtime/engine/Random.h"
#include "runtime/engine/Candidates.h"
#include <cmath>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

TEST(Random, KnownAnswersOfPhilox) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UniformNumbersFillTheUnitInterval) {
  constexpr int count = 100000, bins = 20;
  int found[bins] = {};
  for (uint64_t i = 0; i < count; ++i) {
    const double value = llmc_uniform(5, 7, i);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++found[static_cast<int>(value * bins)];
  }
  for (const int number : found) // 5000 expected, deviation 69
    EXPECT_NEAR(number, count / bins, 350);
}

TEST(Random, AllOfSeedSequenceAndPositionCount) {
  const double value = llmc_uniform(1, 2, 3);
  for (const int bit : {0, 31, 32, 63}) {
    const uint64_t flip = uint64_t(1) << bit;
    EXPECT_NE(llmc_uniform(1 ^ flip, 2, 3), value);
    EXPECT_NE(llmc_uniform(1, 2 ^ flip, 3), value);
    EXPECT_NE(llmc_uniform(1, 2, 3 ^ flip), value);
  }
}

TEST(Random, ExponentialIsWithinTwoUnitsInTheLastPlace) {
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-INFINITY), 0);
  EXPECT_EQ(exponential(-701), 0);
  for (int i = 1; i < 200000; ++i) {
    const double x = -i * 0.00349, expected = std::exp(x);
    ASSERT_NEAR(exponential(x), expected, expected * 2 * 0x1p-52) << x;
  }
}

} // namespace
} // namespace llmc::test
