// SPDX-License-Identifier: Apache-2.0
//
// Whether the op table would notice: faults planted in the PTX that it runs. Those that it does not
// notice are explained in README.md.
#include "test/e2e/optable/Mutations.h"
#include "test/e2e/optable/PackedLinear.h"
#include "test/e2e/optable/Runners.h"
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <functional>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

constexpr size_t kMutations = 20, kLeastCaught = 18;
constexpr unsigned kSeed = 22;

OpCase rowNamed(const std::string &name) {
  for (const OpCase &row : opTable())
    if (row.name == name)
      return row;
  ADD_FAILURE() << "no row " << name << " in the op table";
  return {};
}

/// What the op table would say: a finding, or other bits than the CPU's (`sound`). Empty: nothing.
std::string whyCaught(const Judgement &broken, const Judgement &sound) {
  if (!broken.findings.empty())
    return broken.findings.front();
  size_t count = cpu::test::differences(broken.written, sound.written);
  return count ? std::to_string(count) + " elements with other bits than the CPU's" : "";
}

/// `why` says what notices a PTX text; empty: nothing.
void expectMutationsCaught(const std::string &ptx,
                           const std::function<std::string(const std::string &)> &why) {
  ASSERT_EQ(why(ptx), "");
  std::vector<Mutation> mutations = mutationsOf(ptx, kMutations, kSeed);
  ASSERT_EQ(mutations.size(), kMutations);
  size_t caught = 0;
  std::string survivors;
  for (const Mutation &mutation : mutations) {
    std::string reason = why(mutated(ptx, mutation));
    std::string line = mutation.kind + " at line " + std::to_string(mutation.line) + ": '" +
                       mutation.before + "' -> '" + mutation.after + "'";
    printf("%s: %s\n  %s\n", reason.empty() ? "SURVIVES" : "caught", line.c_str(), reason.c_str());
    caught += !reason.empty();
    if (reason.empty())
      survivors += line + "\n";
  }
  EXPECT_GE(caught, kLeastCaught) << survivors;
}

class MutationTest : public testing::TestWithParam<const char *> {};

TEST_P(MutationTest, at_least_18_of_20_are_caught) {
  OpCase row = rowNamed(GetParam());
  // A loop over rows that are left behind tiles runs once at most: a fault in its end would change nothing.
  if (row.name.find("mlp") == 0)
    row.schedule += (row.schedule.empty() ? "" : ",") + std::string("linear:row_tile=1");
  std::string error;
  CompiledCase compiled = compileCase(row, error);
  ASSERT_EQ(error, "");
  Judgement sound = judge(compiled, *cpuRunner(compiled), row.bound);
  ASSERT_EQ(sound.findings, std::vector<std::string>());
  expectMutationsCaught(compiled.ptx, [&](const std::string &ptx) {
    return whyCaught(judge(compiled, *ptxRunner(compiled, ptx), row.bound), sound);
  });
}

INSTANTIATE_TEST_SUITE_P(rows, MutationTest,
                         testing::Values("linear_of_norm_33_70_130", "mlp_gelu_erf_70_1_33",
                                         "elements_8_lanes_130_33_70"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

class PackedMutationTest : public testing::TestWithParam<PackedLinear> {};

TEST_P(PackedMutationTest, at_least_18_of_20_are_caught) {
  const PackedLinear &linear = GetParam();
  BlockPrograms programs(linear.source());
  const Buffers before = linear.buffers();
  auto rows = uint32_t(linear.rows);
  Buffers sound = programs.runOnCpu("linear", before, linear.programs(), rows);
  ASSERT_EQ(findingIn(linear, sound), "");
  expectMutationsCaught(programs.ptx(), [&](const std::string &ptx) {
    std::string error;
    Buffers broken = BlockPrograms::runPtx(ptx, "linear", before, linear.programs(), error, rows);
    std::string finding = error.empty() ? findingIn(linear, broken) : error;
    return finding.empty() && broken != sound ? "other bits than the CPU's" : finding;
  });
}

INSTANTIATE_TEST_SUITE_P(rows, PackedMutationTest,
                         testing::Values(PackedLinear{2, 70, 126, 4}, PackedLinear{2, 70, 126, 8}),
                         [](const testing::TestParamInfo<PackedLinear> &info) {
                           return info.param.name();
                         });

} // namespace
} // namespace llmc::test
