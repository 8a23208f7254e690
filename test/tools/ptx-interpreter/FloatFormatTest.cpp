// SPDX-License-Identifier: Apache-2.0
// The rounding core against the host: every float16 value, and random doubles in all directions.
#include "tools/ptx-interpreter/FloatFormat.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

namespace llmc::ptx {
namespace {

TEST(FloatFormat, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    for (ScalarType type : {ScalarType::F16, ScalarType::BF16}) {
      double value = cellToDouble(bits, type);
      if (!std::isnan(value)) {
        ASSERT_EQ(roundDouble(value, type, Rounding::NearestEven), bits);
      }
    }
}

TEST(FloatFormat, DoubleToFloatAgreesWithTheHostInAllDirections) {
  const std::pair<Rounding, int> directions[] = {{Rounding::NearestEven, FE_TONEAREST},
                                                 {Rounding::Zero, FE_TOWARDZERO},
                                                 {Rounding::Down, FE_DOWNWARD},
                                                 {Rounding::Up, FE_UPWARD}};
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 20000; ++trial) {
    // Exponents around float's whole range, subnormals and overflow included.
    uint64_t exponent = 1023 - 155 + random() % 290;
    volatile double value = bitCast<double>((random() & 0x800fffffffffffff) | exponent << 52);
    for (auto [rounding, hostMode] : directions) {
      std::fesetround(hostMode);
      volatile float expected = float(value);
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(roundDouble(value, ScalarType::F32, rounding), floatCell(expected))
          << std::hexfloat << value;
    }
  }
}

TEST(FloatFormat, ArithmeticRoundsOnceInAllDirections) {
  const std::pair<Rounding, int> directions[] = {
      {Rounding::Zero, FE_TOWARDZERO}, {Rounding::Down, FE_DOWNWARD}, {Rounding::Up, FE_UPWARD}};
  std::mt19937 random(8);
  auto draw = [&] {
    return bitCast<float>(uint32_t((random() & 0x807fffff) | (100 + random() % 56) << 23));
  };
  for (int trial = 0; trial < 20000; ++trial) {
    volatile float a = draw(), b = draw();
    for (auto [rounding, hostMode] : directions) {
      std::fesetround(hostMode);
      volatile float sum = a + b, product = a * b, quotient = a / b, root = std::sqrt(std::fabs(a));
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(addRounded(a, b, ScalarType::F32, rounding), floatCell(sum));
      ASSERT_EQ(multiplyRounded(a, b, ScalarType::F32, rounding), floatCell(product));
      ASSERT_EQ(divideRounded(a, b, ScalarType::F32, rounding), floatCell(quotient));
      ASSERT_EQ(rootRounded(std::fabs(a), ScalarType::F32, rounding), floatCell(root));
    }
  }
}

TEST(FloatFormat, IntegersRoundToFloat) {
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 20000; ++trial) {
    uint64_t value = random() >> random() % 64;
    ASSERT_EQ(roundSignificand(false, value, 0, ScalarType::F32, Rounding::NearestEven),
              floatCell(float(value)));
  }
  EXPECT_EQ(roundSignificand(false, 0xffffffff, 0, ScalarType::F32, Rounding::Zero),
            floatCell(0x1.fffffep+31f));
}

TEST(FloatFormat, WholeNumbersTiesToEven) {
  EXPECT_EQ(roundToWhole(2.5, Rounding::NearestEven), 2);
  EXPECT_EQ(roundToWhole(3.5, Rounding::NearestEven), 4);
  EXPECT_EQ(roundToWhole(-2.5, Rounding::NearestEven), -2);
  EXPECT_EQ(roundToWhole(-1.5, Rounding::NearestEven), -2);
  EXPECT_EQ(roundToWhole(-2.5, Rounding::Down), -3);
  EXPECT_TRUE(std::signbit(roundToWhole(-0.25, Rounding::NearestEven)));
}

} // namespace
} // namespace llmc::ptx
