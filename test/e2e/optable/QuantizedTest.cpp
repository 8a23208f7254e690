// SPDX-License-Identifier: Apache-2.0
//
// Weights in groups and in 16-bit floats: each command gives what the reference gives from the same
// rounded weights and rows, on every CPU level and as PTX, and all of them the same bits.
#include "test/e2e/optable/Runners.h"
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <gtest/gtest.h>

namespace llmc::test {

void PrintTo(const OpCase &row, std::ostream *stream); // in OpTableTest.cpp

namespace {

/// Judged on each level that this machine has.
void expectSameBits(const std::vector<std::string> &levels, OpCase row) {
  std::vector<float> first;
  double largest = 0;
  for (const std::string &level : levels) {
    row.target = "cpu:" + level; // its schedule; its instructions
    std::string error;
    CompiledCase compiled = compileCase(row, error);
    ASSERT_EQ(error, "") << level;
    ASSERT_EQ(compiled.graph().commands.size(), compiled.expected.size());
    Judgement found = judge(compiled, *cpuRunner(compiled, level), row.bound);
    EXPECT_EQ(found.findings, std::vector<std::string>()) << level;
    largest = std::max(largest, found.largestError);
    if (!first.empty()) {
      EXPECT_EQ(cpu::test::differences(found.written, first), 0u)
          << level << ": elements whose bits differ, of " << first.size();
      continue;
    }
    first = found.written;
    if (!row.onPtx)
      continue;
    Judgement ptx = judge(compiled, *ptxRunner(compiled, compiled.ptx), row.bound);
    EXPECT_EQ(ptx.findings, std::vector<std::string>());
    EXPECT_EQ(cpu::test::differences(ptx.written, first), 0u) << "of PTX";
  }
  printf("largest error: %.2g\n", largest);
}

std::vector<std::string> levels() {
  std::vector<std::string> names = cpu::test::levelsHere();
  names.pop_back(); // native: one of the others, for another processor's scheduling
  return names;
}

class QuantizedTest : public testing::TestWithParam<OpCase> {};

TEST_P(QuantizedTest, levels_give_the_same_bits_and_what_the_reference_gives) {
  expectSameBits(levels(), GetParam());
}

// A row tile less one, full, and one more; all lines of both arenas; one level after the other.
TEST(QuantizedRows, of_any_number) {
  const std::vector<std::string> names = levels();
  for (const OpCase &row : rowCounts(9)) {
    SCOPED_TRACE(row.name);
    expectSameBits({names[size_t(row.rows) % names.size()]}, row);
  }
}

std::string nameOf(const testing::TestParamInfo<OpCase> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(rows, QuantizedTest, testing::ValuesIn(quantizedTable()), nameOf);
INSTANTIATE_TEST_SUITE_P(extremes, QuantizedTest, testing::ValuesIn(extremesTable()), nameOf);

} // namespace
} // namespace llmc::test
