// SPDX-License-Identifier: Apache-2.0
//
// Every command of every row of the op table gives what the reference gives, on the CPU and, from
// the same block programs, as PTX on the interpreter.
#include "test/e2e/optable/Runners.h"
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <gtest/gtest.h>

namespace llmc::test {

void PrintTo(const OpCase &row, std::ostream *stream) {
  *stream << row.name;
} // for failures of the test

namespace {

class OpTableTest : public testing::TestWithParam<OpCase> {};

TEST_P(OpTableTest, cpu_and_ptx_give_the_same_bits_and_what_the_reference_gives) {
  std::string error;
  CompiledCase compiled = compileCase(GetParam(), error);
  ASSERT_EQ(error, "");
  ASSERT_GE(compiled.expected.size(), 3u);
  ASSERT_EQ(compiled.graph().commands.size(), compiled.expected.size());
  Judgement cpuResult = judge(compiled, *cpuRunner(compiled), GetParam().bound);
  EXPECT_EQ(cpuResult.findings, std::vector<std::string>());
  if (!GetParam().onPtx)
    return;
  Judgement ptx = judge(compiled, *ptxRunner(compiled, compiled.ptx), GetParam().bound);
  EXPECT_EQ(ptx.findings, std::vector<std::string>());
  // One block program, one order of additions, one set of polynomials: not near each other, but
  // equal.
  EXPECT_EQ(cpu::test::differences(cpuResult.written, ptx.written), 0u)
      << "elements whose bits differ, of " << ptx.written.size();
  printf("largest error: cpu %.2g, ptx %.2g\n", cpuResult.largestError, ptx.largestError);
}

INSTANTIATE_TEST_SUITE_P(rows, OpTableTest, testing::ValuesIn(opTable()),
                         [](const testing::TestParamInfo<OpCase> &info) {
                           return info.param.name;
                         });

} // namespace
} // namespace llmc::test
