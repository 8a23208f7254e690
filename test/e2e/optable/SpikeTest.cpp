// SPDX-License-Identifier: Apache-2.0
//
// The spike's tile programs (tools/bench/spike) as PTX: what the reference's formulas give, in the
// CPU's bits.
#include "test/e2e/optable/NormalisedError.h"
#include "test/e2e/optable/PackedLinear.h"
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace llmc::test {
namespace {

constexpr int64_t kWidth = 2048, kPanels = 64; // as spike.mlir has them
constexpr double kBound = 1e-10;               // f32 sums of 2048 terms

struct SpikeTest : testing::Test {
  static void SetUpTestSuite() {
    std::ifstream file(SPIKE_PROGRAMS);
    std::stringstream text;
    text << file.rdbuf();
    programs = std::make_unique<BlockPrograms>(text.str());
  }
  static void TearDownTestSuite() { programs.reset(); }

  void expectBoth(const std::string &kernel, const Buffers &buffers, uint32_t count, uint32_t rows,
                  const std::vector<double> &expected) {
    std::string error;
    Buffers cpu = programs->runOnCpu(kernel, buffers, count, rows);
    Buffers ptx = BlockPrograms::runPtx(programs->ptx(), kernel, buffers, count, error, rows);
    ASSERT_EQ(error, "");
    EXPECT_EQ(cpu, ptx);
    double found = normalisedError(asFloats(ptx.back()).data(), expected);
    EXPECT_LE(found, kBound);
    printf("error: %.2g\n", found);
  }

  static std::unique_ptr<BlockPrograms> programs;
};

std::unique_ptr<BlockPrograms> SpikeTest::programs;

std::vector<uint32_t> unwritten(int64_t count) { return std::vector<uint32_t>(count, kNaN); }

TEST_F(SpikeTest, rms_norm) {
  const int64_t rows = 3;
  std::vector<float> x = cpu::test::randomFloats(rows * kWidth, 1),
                     w = cpu::test::randomFloats(kWidth, 2);
  std::vector<double> expected;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < kWidth; ++i)
      sum += double(x[row * kWidth + i]) * double(x[row * kWidth + i]);
    for (int64_t i = 0; i < kWidth; ++i)
      expected.push_back(double(x[row * kWidth + i]) * double(w[i]) /
                         std::sqrt(sum / kWidth + 1e-5));
  }
  expectBoth("rms_norm", {asBits(x), asBits(w), unwritten(rows * kWidth)}, rows, rows, expected);
}

TEST_F(SpikeTest, gemv) {
  std::vector<float> x = cpu::test::randomFloats(kWidth, 3),
                     w = cpu::test::randomFloats(kPanels * kWidth * 32, 4);
  std::vector<double> expected(kPanels * 32);
  for (int64_t panel = 0; panel < kPanels; ++panel)
    for (int64_t k = 0; k < kWidth; ++k)
      for (int64_t i = 0; i < 32; ++i)
        expected[panel * 32 + i] += double(x[k]) * double(w[(panel * kWidth + k) * 32 + i]);
  expectBoth("gemv", {asBits(x), asBits(w), unwritten(kPanels * 32)}, kPanels, 1, expected);
}

TEST_F(SpikeTest, int4_gemv) {
  PackedLinear linear{1, kPanels * 32, kWidth, 4};
  expectBoth("int4_gemv", linear.buffers(), kPanels, 1, linear.expected());
}

TEST_F(SpikeTest, int8_gemm) {
  PackedLinear linear{2, kPanels * 32, kWidth, 8};
  expectBoth("int8_gemm", linear.buffers(), kPanels, 2, linear.expected());
}

} // namespace
} // namespace llmc::test
