// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic, logic, shifts, bit fields: each form against values worked out by hand.
#include "test/tools/ptx-interpreter/Support.h"

namespace llmc::ptx::test {
namespace {

TEST(IntegerForms, ArithmeticWrapsAtItsWidth) {
  EXPECT_EQ(evaluate32("add.s32", {0x7fffffff, 1}), 0x80000000u);
  EXPECT_EQ(evaluate32("add.sat.s32", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(evaluate32("sub.sat.s32", {0x80000000, 1}), 0x80000000u);
  EXPECT_EQ(evaluate("sub.u64", 64, 64, {0, 1}), ~uint64_t(0));
  EXPECT_EQ(evaluate("add.u16", 16, 16, {0xffff, 2}), 1u);
}

TEST(IntegerForms, ProductsLowHighWide) {
  EXPECT_EQ(evaluate32("mul.lo.u32", {0x10001, 0x10001}), 0x20001u);
  EXPECT_EQ(evaluate32("mul.hi.u32", {0xffffffff, 0xffffffff}), 0xfffffffeu);
  EXPECT_EQ(evaluate32("mul.hi.s32", {0xffffffff, 5}), 0xffffffffu);
  EXPECT_EQ(evaluate("mul.hi.u64", 64, 64, {~uint64_t(0), ~uint64_t(0)}), ~uint64_t(0) - 1);
  EXPECT_EQ(evaluate("mul.hi.s64", 64, 64, {~uint64_t(0), 7}), ~uint64_t(0));
  EXPECT_EQ(evaluate("mul.wide.s32", 64, 32, {0xfffffffe, 3}), uint64_t(-6));
  EXPECT_EQ(evaluate("mul.wide.u32", 64, 32, {0xfffffffe, 3}), 0x2fffffffau);
  EXPECT_EQ(evaluate("mul.wide.u16", 32, 16, {0xffff, 0xffff}), 0xfffe0001u);
  EXPECT_EQ(evaluate32("mad.lo.s32", {7, 0xffffffff, 3}), uint32_t(-4));
  EXPECT_EQ(evaluate32("mul24.lo.u32", {0xff000002, 3}), 6u);
}

TEST(IntegerForms, WideMultiplyAddTakesAWideAddend) {
  BodyRun run = runBody("ld.param.u64 %d0, [data]; mov.u32 %r0, -2; mov.u64 %d1, 0x100000000;\n"
                    "mad.wide.s32 %d2, %r0, 3, %d1; st.global.u64 [%d0], %d2;",
                    {0, 0});
  EXPECT_EQ(run.words[0] | uint64_t(run.words[1]) << 32, 0x100000000u - 6);
}

TEST(IntegerForms, DivisionTruncatesAndZeroDoesNotCrash) {
  EXPECT_EQ(evaluate32("div.s32", {uint32_t(-7), 2}), uint32_t(-3));
  EXPECT_EQ(evaluate32("rem.s32", {uint32_t(-7), 2}), uint32_t(-1));
  EXPECT_EQ(evaluate32("div.u32", {0xfffffff9, 2}), 0x7ffffffcu);
  EXPECT_EQ(evaluate32("div.s32", {0x80000000, uint32_t(-1)}), 0x80000000u);
  EXPECT_EQ(evaluate("div.s64", 64, 64, {uint64_t(1) << 63, ~uint64_t(0)}), uint64_t(1) << 63);
  EXPECT_EQ(evaluate32("div.u32", {5, 0}), 0xffffffffu);
  EXPECT_EQ(evaluate32("rem.u32", {5, 0}), 5u);
}

TEST(IntegerForms, MinMaxFollowTheSign) {
  EXPECT_EQ(evaluate32("min.s32", {uint32_t(-1), 1}), uint32_t(-1));
  EXPECT_EQ(evaluate32("min.u32", {uint32_t(-1), 1}), 1u);
  EXPECT_EQ(evaluate("max.s16", 16, 16, {0x8000, 3}), 3u);
  EXPECT_EQ(evaluate("max.u64", 64, 64, {uint64_t(1) << 63, 3}), uint64_t(1) << 63);
  EXPECT_EQ(evaluate32("abs.s32", {uint32_t(-5)}), 5u);
  EXPECT_EQ(evaluate32("neg.s32", {5}), uint32_t(-5));
  EXPECT_EQ(evaluate32("sad.u32", {3, 10, 1}), 8u);
}

TEST(IntegerForms, ByteProductsHaveASignForEachSide) {
  EXPECT_EQ(evaluate32("dp4a.s32.s32", {0xff02ff01, 0x01010101, 10}), 11u);
  // 255 and -1 are the same byte: 255 * -128 four times, or with other signs.
  EXPECT_EQ(evaluate32("dp4a.u32.s32", {0xffffffff, 0x80808080, 1}), uint32_t(1 - 4 * 255 * 128));
  EXPECT_EQ(evaluate32("dp4a.s32.u32", {0xffffffff, 0x80808080, 1}), uint32_t(1 - 4 * 128));
  EXPECT_EQ(evaluate32("dp4a.s32.s32", {0xffffffff, 0x80808080, 1}), uint32_t(1 + 4 * 128));
  EXPECT_EQ(evaluate32("dp4a.u32.u32", {0xffffffff, 0x80808080, 1}), uint32_t(1 + 4 * 255 * 128));
  EXPECT_EQ(evaluate32("dp4a.u32.s32", {0x01020304, 0x01ff0200, 0}), uint32_t(1 - 2 + 6));
  EXPECT_EQ(evaluate32("dp4a.u32.s32", {0x01010101, 0x01010101, 0x7fffffff}), 0x80000003u)
      << "sums wrap";
}

TEST(IntegerForms, LogicAndShifts) {
  EXPECT_EQ(evaluate32("and.b32", {0xf0f0, 0xff00}), 0xf000u);
  EXPECT_EQ(evaluate32("or.b32", {0xf0, 0x0f}), 0xffu);
  EXPECT_EQ(evaluate("xor.b64", 64, 64, {~uint64_t(0), 1}), ~uint64_t(1));
  EXPECT_EQ(evaluate("not.b16", 16, 16, {0x00ff}), 0xff00u);
  EXPECT_EQ(evaluate32("cnot.b32", {0}), 1u);
  EXPECT_EQ(evaluate32("shl.b32", {1, 31}), 0x80000000u);
  EXPECT_EQ(evaluate32("shl.b32", {1, 32}), 0u) << "a shift by the width gives zero, not the value";
  EXPECT_EQ(evaluate32("shr.u32", {0x80000000, 40}), 0u);
  EXPECT_EQ(evaluate32("shr.s32", {0x80000000, 40}), 0xffffffffu);
  EXPECT_EQ(evaluate32("shr.s32", {0x80000000, 4}), 0xf8000000u);
}

TEST(IntegerForms, FunnelShifts) {
  EXPECT_EQ(evaluate32("shf.l.wrap.b32", {0x80000000, 1, 1}), 3u);
  EXPECT_EQ(evaluate32("shf.l.wrap.b32", {0x80000000, 1, 33}), 3u);
  EXPECT_EQ(evaluate32("shf.l.clamp.b32", {0x80000000, 1, 40}), 0x80000000u);
  EXPECT_EQ(evaluate32("shf.r.wrap.b32", {0x2, 1, 1}), 0x80000001u);
  EXPECT_EQ(evaluate32("shf.r.clamp.b32", {0x2, 1, 40}), 1u);
}

TEST(IntegerForms, BitFields) {
  EXPECT_EQ(evaluate32("bfe.u32", {0xabcd1234, 8, 8}), 0x12u);
  EXPECT_EQ(evaluate32("bfe.s32", {0x00008000, 8, 8}), 0xffffff80u);
  EXPECT_EQ(evaluate32("bfe.s32", {0x80000000, 28, 8}), 0xfffffff8u);
  EXPECT_EQ(evaluate32("bfe.u32", {0xffffffff, 40, 8}), 0u);
  EXPECT_EQ(evaluate32("bfe.s32", {0x80000000, 40, 8}), 0xffffffffu);
  EXPECT_EQ(evaluate32("bfe.u32", {0xffffffff, 3, 0}), 0u);
  EXPECT_EQ(evaluate32("bfi.b32", {0xff, 0x11111111, 8, 4}), 0x11111f11u);
  EXPECT_EQ(evaluate32("bfi.b32", {0xff, 0x11111111, 32, 4}), 0x11111111u);
  EXPECT_EQ(evaluate32("bmsk.clamp.b32", {4, 8}), 0xff0u);
}

TEST(IntegerForms, BytesAndTables) {
  EXPECT_EQ(evaluate32("prmt.b32", {0x33221100, 0x77665544, 0x7410}), 0x77441100u);
  EXPECT_EQ(evaluate32("prmt.b32", {0x000000f0, 0, 0x0008}), 0xf0f0f0ffu)
      << "bit 3 of a selector replicates the byte's sign";
  EXPECT_EQ(evaluate32("popc.b32", {0xf0f0}), 8u);
  EXPECT_EQ(evaluate("popc.b64", 32, 64, {~uint64_t(0)}), 64u);
  EXPECT_EQ(evaluate32("clz.b32", {1}), 31u);
  EXPECT_EQ(evaluate32("clz.b32", {0}), 32u);
  EXPECT_EQ(evaluate("clz.b64", 32, 64, {1}), 63u);
  EXPECT_EQ(evaluate32("brev.b32", {1}), 0x80000000u);
  EXPECT_EQ(evaluate32("bfind.u32", {0x100}), 8u);
  EXPECT_EQ(evaluate32("bfind.s32", {uint32_t(-1)}), 0xffffffffu);
  BodyRun run =
      runBody("ld.param.u64 %d0, [data]; mov.u32 %r0, 0xcc; mov.u32 %r1, 0xaa; mov.u32 %r2, 0xf0;\n"
              "lop3.b32 %r3, %r0, %r1, %r2, 0xe8; st.global.u32 [%d0], %r3;",
              {0});
  EXPECT_EQ(run.words[0], (0xccu & 0xaa) | (0xcc & 0xf0) | (0xaa & 0xf0)) << "0xe8 is the majority";
}

} // namespace
} // namespace llmc::ptx::test
