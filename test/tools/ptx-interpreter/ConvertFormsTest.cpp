// SPDX-License-Identifier: Apache-2.0
// cvt between integers and floats: all roundings, clamping, NaN, saturation, halves.
#include "test/tools/ptx-interpreter/Support.h"

#include <cmath>

namespace llmc::ptx::test {
namespace {

uint32_t floatToInt(const std::string &form, float value) {
  return evaluate32(form, {floatCell(value)});
}

TEST(ConvertForms, FloatToIntegerRoundings) {
  EXPECT_EQ(floatToInt("cvt.rni.s32.f32", 2.5f), 2u);
  EXPECT_EQ(floatToInt("cvt.rzi.s32.f32", -2.7f), uint32_t(-2));
  EXPECT_EQ(floatToInt("cvt.rmi.s32.f32", -2.2f), uint32_t(-3));
  EXPECT_EQ(floatToInt("cvt.rpi.s32.f32", 2.2f), 3u);
}

TEST(ConvertForms, FloatToIntegerClamps) {
  EXPECT_EQ(floatToInt("cvt.rzi.s32.f32", 3e9f), 0x7fffffffu);
  EXPECT_EQ(floatToInt("cvt.rzi.s32.f32", -3e9f), 0x80000000u);
  EXPECT_EQ(floatToInt("cvt.rzi.u32.f32", -1), 0u);
  EXPECT_EQ(floatToInt("cvt.rzi.u32.f32", 5e9f), 0xffffffffu);
  EXPECT_EQ(floatToInt("cvt.rzi.s32.f32", NAN), 0u);
  EXPECT_EQ(floatToInt("cvt.rzi.s8.f32", 200), 127u);
  EXPECT_EQ(evaluate("cvt.rzi.u64.f32", 64, 32, {floatCell(1e30f)}), ~uint64_t(0));
  EXPECT_EQ(evaluate("cvt.rzi.s64.f32", 64, 32, {floatCell(NAN)}), uint64_t(1) << 63);
}

TEST(ConvertForms, IntegerToFloat) {
  EXPECT_EQ(evaluate32("cvt.rn.f32.s32", {uint32_t(-3)}), floatCell(-3));
  EXPECT_EQ(evaluate32("cvt.rn.f32.u32", {0xffffffff}), floatCell(0x1p32f));
  EXPECT_EQ(evaluate32("cvt.rz.f32.u32", {0xffffffff}), floatCell(0x1.fffffep31f));
  EXPECT_EQ(evaluate("cvt.rn.f64.s64", 64, 64, {uint64_t(-5)}), bitCast<uint64_t>(-5.0));
  EXPECT_EQ(evaluate("cvt.rn.f16.s32", 16, 32, {2049}), 0x6800u) << "2048 is even, 2050 not";
}

TEST(ConvertForms, IntegerToInteger) {
  EXPECT_EQ(evaluate("cvt.s64.s32", 64, 32, {0x80000000}), 0xffffffff80000000u);
  EXPECT_EQ(evaluate("cvt.u64.u32", 64, 32, {0x80000000}), 0x80000000u);
  EXPECT_EQ(evaluate("cvt.u32.u64", 32, 64, {0x123456789}), 0x23456789u);
  EXPECT_EQ(evaluate32("cvt.s32.s8", {0x80}), 0xffffff80u);
  EXPECT_EQ(evaluate32("cvt.u32.u8", {0x180}), 0x80u);
  EXPECT_EQ(evaluate32("cvt.sat.s8.s32", {300}), 127u);
  EXPECT_EQ(evaluate32("cvt.sat.u8.s32", {uint32_t(-4)}), 0u);
  EXPECT_EQ(evaluate32("cvt.sat.s8.s32", {uint32_t(-300)}), uint32_t(-128));
}

TEST(ConvertForms, FloatToFloat) {
  EXPECT_EQ(evaluate("cvt.rn.f16.f32", 16, 32, {floatCell(65520)}), 0x7c00u);
  EXPECT_EQ(evaluate("cvt.rz.f16.f32", 16, 32, {floatCell(65520)}), 0x7bffu);
  EXPECT_EQ(evaluate("cvt.f32.f16", 32, 16, {0x0001}), floatCell(0x1p-24f))
      << "the least subnormal half";
  EXPECT_EQ(evaluate("cvt.rn.bf16.f32", 16, 32, {0x3f808000}), 0x3f80u) << "a tie goes to even";
  EXPECT_EQ(evaluate("cvt.rn.bf16.f32", 16, 32, {0x3f818000}), 0x3f82u);
  EXPECT_EQ(evaluate("cvt.f32.bf16", 32, 16, {0x3f82}), 0x3f820000u);
  EXPECT_EQ(evaluate("cvt.rn.f32.f64", 32, 64, {bitCast<uint64_t>(0.1)}), floatCell(0.1f));
  EXPECT_EQ(evaluate32("cvt.rni.f32.f32", {floatCell(-2.5f)}), floatCell(-2.0f));
  EXPECT_EQ(evaluate32("cvt.sat.f32.f32", {floatCell(1.5f)}), floatCell(1.0f));
  EXPECT_EQ(evaluate32("cvt.rn.bf16x2.f32", {floatCell(1), floatCell(2)}), 0x3f804000u)
      << "the first operand is the upper half";
  EXPECT_EQ(evaluate32("cvt.rn.f16x2.f32", {floatCell(1), floatCell(2)}), 0x3c004000u);
}

TEST(ConvertForms, ComparisonsOrderedAndUnordered) {
  auto holds = [](const std::string &comparison, float a, float b) {
    return evaluate("setp." + comparison + ".f32", 1, 32, {floatCell(a), floatCell(b)}) == 1;
  };
  for (const char *ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_FALSE(holds(ordered, NAN, 1)) << ordered;
  for (const char *unordered : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_TRUE(holds(unordered, NAN, 1)) << unordered;
  EXPECT_TRUE(holds("lt", 1, 2) && holds("ltu", 1, 2) && holds("num", 1, 2) && holds("ne", 1, 2));
  EXPECT_FALSE(holds("gt", 1, 2) || holds("gtu", 1, 2) || holds("nan", 1, 2) || holds("equ", 1, 2));
  EXPECT_TRUE(holds("eq", 0.0f, -0.0f));
  auto integer = [](const std::string &form, uint32_t a, uint32_t b) {
    return evaluate(form, 1, 32, {a, b}) == 1;
  };
  EXPECT_TRUE(integer("setp.lt.s32", uint32_t(-1), 1));
  EXPECT_FALSE(integer("setp.lt.u32", uint32_t(-1), 1));
  EXPECT_TRUE(integer("setp.hi.u32", uint32_t(-1), 1));
  EXPECT_TRUE(integer("setp.ls.u32", 1, 1));
}

TEST(ConvertForms, ComparisonsCombineAndGiveBothSenses) {
  BodyRun run =
      runBody("ld.param.u64 %d0, [data]; mov.u32 %r0, 5;\n"
              "setp.lt.s32 %p0, %r0, 9;\n"
              "setp.gt.and.s32 %p1|%p2, %r0, 7, %p0;\n" // false, and its complement with %p0
              "setp.eq.xor.s32 %p3, %r0, 5, !%p0;\n"
              "selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;\n"
              "st.global.u32 [%d0], %r1; st.global.u32 [%d0+4], %r2; st.global.u32 [%d0+8], %r3;",
              {9, 9, 9});
  EXPECT_EQ(run.words, (std::vector<uint32_t>{0, 1, 1}));
}

} // namespace
} // namespace llmc::ptx::test
