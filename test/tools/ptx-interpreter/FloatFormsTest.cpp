// SPDX-License-Identifier: Apache-2.0
// Floating-point forms: rounding directions, flushing, saturation, NaN rules, packed halves.
#include "test/tools/ptx-interpreter/Support.h"

#include <cmath>

namespace llmc::ptx::test {
namespace {

constexpr uint32_t canonical = 0x7fffffff;
const float tiny = std::ldexp(1.0f, -140); // subnormal

TEST(FloatForms, RoundingDirections) {
  float step = std::ldexp(1.0f, -24); // half of the last bit of 1
  EXPECT_EQ(evaluateFloat("add.rn.f32", {1, step}), 1.0f);
  EXPECT_EQ(evaluateFloat("add.rp.f32", {1, step}), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(evaluateFloat("add.rz.f32", {-1, -step}), -1.0f);
  EXPECT_EQ(evaluateFloat("add.rm.f32", {-1, -step}), std::nextafter(-1.0f, -2.0f));
  EXPECT_EQ(evaluateFloat("sub.rm.f32", {1, 1e-30f}), std::nextafter(1.0f, 0.0f));
  EXPECT_TRUE(std::signbit(evaluateFloat("add.rm.f32", {1, -1})))
      << "an exact zero is -0 when rounding down";
  EXPECT_FALSE(std::signbit(evaluateFloat("add.rn.f32", {1, -1})));
  EXPECT_EQ(evaluateFloat("div.rp.f32", {1, 3}), 0x1.555556p-2f);
  EXPECT_EQ(evaluateFloat("div.rz.f32", {1, 3}), 0x1.555554p-2f);
  EXPECT_EQ(evaluateFloat("sqrt.rp.f32", {2}), 0x1.6a09e8p+0f);
  EXPECT_EQ(evaluateFloat("sqrt.rm.f32", {2}), 0x1.6a09e6p+0f);
  EXPECT_EQ(evaluateFloat("rcp.rz.f32", {3}), 0x1.555554p-2f);
  EXPECT_EQ(evaluateFloat("mul.rz.f32", {3e38f, 2}), 0x1.fffffep+127f)
      << "overflow towards zero stays finite";
}

TEST(FloatForms, FusedRoundsOnce) {
  float a = 1 + std::ldexp(1.0f, -12);
  EXPECT_EQ(evaluateFloat("fma.rn.f32", {a, a, -1}), std::fma(a, a, -1.0f));
  EXPECT_NE(std::fma(a, a, -1.0f), a * a - 1.0f) << "the values tell the two apart";
  EXPECT_EQ(evaluateFloat("fma.rp.f32", {1, 1, 1e-30f}), std::nextafter(1.0f, 2.0f));
}

TEST(FloatForms, FlushAndSaturate) {
  EXPECT_EQ(evaluateFloat("mul.f32", {tiny, 1}), tiny);
  EXPECT_EQ(evaluateFloat("mul.ftz.f32", {tiny, 1}), 0.0f);
  EXPECT_TRUE(std::signbit(evaluateFloat("mul.ftz.f32", {-tiny, 1})));
  EXPECT_EQ(evaluateFloat("add.sat.f32", {2, 3}), 1.0f);
  EXPECT_EQ(evaluateFloat("add.sat.f32", {-2, 1}), 0.0f);
  EXPECT_EQ(evaluateFloat("add.sat.f32", {NAN, 1}), 0.0f);
  EXPECT_EQ(evaluateFloat("neg.ftz.f32", {tiny}), 0.0f);
}

TEST(FloatForms, NaNIsCanonical) {
  EXPECT_EQ(evaluate32("add.f32", {0x7fc01234, 0}), canonical);
  EXPECT_EQ(evaluate32("mul.f32", {0x7f800000, 0}), canonical);
  EXPECT_EQ(evaluate32("sqrt.rn.f32", {floatCell(-1)}), canonical);
  EXPECT_EQ(evaluateFloat("div.rn.f32", {1, 0}), INFINITY);
}

TEST(FloatForms, MinimumAndMaximum) {
  EXPECT_EQ(evaluateFloat("min.f32", {NAN, 3}), 3.0f);
  EXPECT_EQ(evaluateFloat("max.f32", {3, NAN}), 3.0f);
  EXPECT_EQ(evaluate32("max.f32", {0x7fc00000, 0x7fc00000}), canonical);
  EXPECT_EQ(evaluate32("min.NaN.f32", {floatCell(NAN), floatCell(3)}), canonical);
  EXPECT_EQ(evaluate32("max.NaN.f32", {floatCell(3), floatCell(NAN)}), canonical);
  EXPECT_TRUE(std::signbit(evaluateFloat("min.f32", {0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(evaluateFloat("max.f32", {-0.0f, 0.0f})));
}

TEST(FloatForms, SignForms) {
  EXPECT_EQ(evaluateFloat("abs.f32", {-2.5f}), 2.5f);
  EXPECT_EQ(evaluateFloat("neg.f32", {2.5f}), -2.5f);
  EXPECT_EQ(evaluateFloat("copysign.f32", {-1.0f, 7.0f}), -7.0f)
      << "the sign comes from the first operand";
  EXPECT_EQ(evaluate("abs.f64", 64, 64, {bitCast<uint64_t>(-2.0)}), bitCast<uint64_t>(2.0));
}

TEST(FloatForms, ApproximateFormsAreNear) {
  EXPECT_NEAR(evaluateFloat("ex2.approx.ftz.f32", {0.5f}), std::sqrt(2.0f), 1e-6f);
  EXPECT_NEAR(evaluateFloat("lg2.approx.f32", {8}), 3, 1e-6f);
  EXPECT_NEAR(evaluateFloat("rsqrt.approx.f32", {4}), 0.5f, 1e-6f);
  EXPECT_NEAR(evaluateFloat("rcp.approx.ftz.f32", {4}), 0.25f, 1e-6f);
  EXPECT_NEAR(evaluateFloat("sin.approx.f32", {0.5f}), std::sin(0.5f), 1e-6f);
  EXPECT_NEAR(evaluateFloat("cos.approx.f32", {0.5f}), std::cos(0.5f), 1e-6f);
  EXPECT_NEAR(evaluateFloat("tanh.approx.f32", {0.5f}), std::tanh(0.5f), 1e-6f);
  EXPECT_NEAR(evaluateFloat("div.full.f32", {1, 3}), 1.0f / 3, 1e-6f);
}

TEST(FloatForms, DoubleAndHalf) {
  EXPECT_EQ(evaluate("fma.rn.f64", 64, 64,
                     {bitCast<uint64_t>(3.0), bitCast<uint64_t>(4.0), bitCast<uint64_t>(0.5)}),
            bitCast<uint64_t>(12.5));
  EXPECT_EQ(evaluate("add.f16", 16, 16, {0x3c00, 0x3c00}), 0x4000u);
  EXPECT_EQ(evaluate("fma.rn.bf16", 16, 16, {0x4000, 0x4040, 0x3f80}), 0x40e0u) << "2 * 3 + 1";
  EXPECT_EQ(evaluate32("add.f16x2", {0x3c004000, 0x3c003c00}), 0x40004200u) << "(1, 2) + (1, 1)";
  EXPECT_EQ(evaluate("mul.f16", 16, 16, {0x7bff, 0x4000}), 0x7c00u) << "overflow is infinite";
}

} // namespace
} // namespace llmc::ptx::test
