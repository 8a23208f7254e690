// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and tensor-core forms of sm_80, with their checks.
#include "test/tools/ptx-interpreter/Support.h"

#include <cmath>

namespace llmc::ptx::test {
namespace {

/// Copies a word through shared memory; `wait` stands between the copy and the read.
BodyRun copyWord(const std::string &wait, const std::string &after = "", uint32_t fromBytes = 4) {
  return runBody(".shared .align 16 .b8 box[16];\nld.param.u64 %d0, [data]; mov.u32 %r1, " +
                     std::to_string(fromBytes) +
                     ";\ncp.async.ca.shared.global [box], [%d0], 4, %r1; cp.async.commit_group;\n" +
                     wait + "ld.shared.u32 %r0, [box]; st.global.u32 [%d0+4], %r0;\n" + after,
                 {77, 1});
}

TEST(TensorForms, CopiesArriveWhenWaitedFor) {
  for (const char *wait : {"cp.async.wait_group 0;\n", "cp.async.wait_all;\n"}) {
    BodyRun run = copyWord(wait);
    EXPECT_TRUE(run.result.clean()) << run.loadError << run.result.error;
    EXPECT_EQ(run.words[1], 77u);
  }
  EXPECT_EQ(copyWord("cp.async.wait_all;\n", "", 0).words[1], 0u) << "bytes not copied are zero";
}

TEST(TensorForms, CopiesNotWaitedForAreFindings) {
  BodyRun none = copyWord("");
  EXPECT_TRUE(none.found(ReportKind::CopyStillInFlight));
  EXPECT_TRUE(none.found(ReportKind::PendingCopiesAtExit));
  BodyRun one = copyWord("cp.async.wait_group 1;\n", "cp.async.wait_all;");
  EXPECT_TRUE(one.found(ReportKind::CopyStillInFlight)) << "one group may stay in flight";
  EXPECT_FALSE(one.found(ReportKind::PendingCopiesAtExit));
  BodyRun endless = runBody(".shared .align 16 .b8 box[16];\nld.param.u64 %d0, [data];\n"
                            "AGAIN: cp.async.ca.shared.global [box], [%d0], 4; bra AGAIN;",
                            {1}, {1, 32, SIZE_MAX, 1000000});
  EXPECT_TRUE(endless.found(ReportKind::TooManyCopies));
}

TEST(TensorForms, CopiesOfOddSizesAreRefused) {
  EXPECT_NE(bodyError(".shared .b32 box;\ncp.async.ca.shared.global [box], [%d0], 5;"), "");
  EXPECT_NE(bodyError(".shared .b32 box;\ncp.async.cg.shared.global [box], [%d0], 4;"), "");
  EXPECT_NE(bodyError("cp.async.bulk.commit_group;"), "");
  EXPECT_NE(
      bodyError("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0}, {%r1}, {%r2}, {%r3};"), "");
  EXPECT_TRUE(runBody(".shared .align 16 .b8 box[16];\nld.param.u64 %d0, [data];\n"
                      "cp.async.cg.shared.global [box], [%d0+4], 16;",
                      std::vector<uint32_t>(8))
                  .found(ReportKind::Misaligned));
}

/// C = A * B + C for 16 x 16 row-major A and 16 x 8 column-major B in bfloat16 or float16. A goes
/// through shared memory and ldmatrix (rows 32 bytes apart), B and C straight from global memory by
/// the manual's fragment layout. `data` holds A (128 words), B (64 words), C (128 words).
std::string multiplyBody(const std::string &type, const std::string &transposed = "") {
  return ".shared .align 16 .b8 tile[512];\n"
         "ld.param.u64 %d0, [data]; mov.u32 %r0, %tid.x;\n"
         "mul.wide.u32 %d1, %r0, 16; add.s64 %d2, %d0, %d1; mov.u32 %r1, tile; shl.b32 %r2, %r0, "
         "4;\n"
         "add.u32 %r2, %r1, %r2; ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%d2];\n"
         "st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6}; bar.warp.sync -1;\n"
         // Lane l addresses row l % 16, and for l >= 16 the right half.
         "and.b32 %r7, %r0, 15; shl.b32 %r7, %r7, 5; and.b32 %r8, %r0, 16; add.u32 %r7, %r7, %r8;\n"
         "add.u32 %r7, %r7, %r1;\n"
         "ldmatrix.sync.aligned.m8n8.x4" +
         transposed +
         ".shared.b16 {%r3, %r4, %r5, %r6}, [%r7];\n"
         // B: column l / 4, rows 2 * (l % 4) and 8 more.
         "shr.u32 %r8, %r0, 2; and.b32 %r9, %r0, 3; shl.b32 %r10, %r8, 5; shl.b32 %r11, %r9, 2;\n"
         "add.u32 %r10, %r10, %r11; cvt.u64.u32 %d3, %r10; add.s64 %d3, %d3, %d0;\n"
         "ld.global.b32 %r12, [%d3+512]; ld.global.b32 %r13, [%d3+528];\n"
         // C: row l / 4, columns 2 * (l % 4), and eight rows further down.
         "shl.b32 %r10, %r8, 5; shl.b32 %r11, %r9, 3; add.u32 %r10, %r10, %r11; cvt.u64.u32 %d4, "
         "%r10;\n"
         "add.s64 %d4, %d4, %d0;\n"
         "ld.global.v2.b32 {%r14, %r15}, [%d4+768]; ld.global.v2.b32 {%r16, %r17}, [%d4+1024];\n"
         "mma.sync.aligned.m16n8k16.row.col.f32." +
         type + "." + type +
         ".f32 {%r14, %r15, %r16, %r17}, {%r3, %r4, %r5, %r6},\n"
         "  {%r12, %r13}, {%r14, %r15, %r16, %r17};\n"
         "st.global.v2.b32 [%d4+768], {%r14, %r15}; st.global.v2.b32 [%d4+1024], {%r16, %r17};\n";
}

/// The largest error of that kernel on small whole numbers, of which sums are exact.
double multiplyError(ScalarType type, const std::string &body, LaunchResult &result,
                     uint32_t threads = 32) {
  std::vector<uint32_t> words(320);
  double a[16][16], b[16][8], c[16][8];
  auto put = [&](unsigned half, double value) {
    words[half / 2] |= uint32_t(roundDouble(value, type, Rounding::NearestEven)) << (half % 2 * 16);
  };
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 16; ++column)
      put(row * 16 + column, a[row][column] = double((row * 7 + column * 3) % 11) - 5);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      put(256 + column * 16 + row, b[row][column] = double((row * 5 + column * 2) % 7) - 3);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      words[192 + row * 8 + column] =
          uint32_t(floatCell(float(c[row][column] = row - column * 2.0)));
  BodyRun run = runBody(body, words, {1, threads});
  EXPECT_EQ(run.loadError, "");
  result = run.result;
  double worst = 0;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      double expected = c[row][column];
      for (unsigned inner = 0; inner < 16; ++inner)
        expected += a[row][inner] * b[inner][column];
      worst = std::max(worst, std::fabs(asFloat(run.words[192 + row * 8 + column]) - expected));
    }
  return worst;
}

TEST(TensorForms, MatrixProducts) {
  LaunchResult result;
  EXPECT_EQ(multiplyError(ScalarType::BF16, multiplyBody("bf16"), result), 0);
  EXPECT_TRUE(result.clean()) << result.error;
  EXPECT_EQ(multiplyError(ScalarType::F16, multiplyBody("f16"), result), 0);
  EXPECT_TRUE(result.clean()) << result.error;
  EXPECT_GT(multiplyError(ScalarType::BF16, multiplyBody("bf16", ".trans"), result), 1)
      << "a wrongly transposed operand shows";
}

TEST(TensorForms, MatrixFormsNeedTheWholeWarp) {
  LaunchResult result;
  multiplyError(ScalarType::BF16, multiplyBody("bf16"), result, 16);
  ASSERT_FALSE(result.completed);
  EXPECT_EQ(result.reports.back().kind, ReportKind::PartialWarp);
}

} // namespace
} // namespace llmc::ptx::test
