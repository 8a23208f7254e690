// SPDX-License-Identifier: Apache-2.0
//
// Whether the op table would notice: faults planted in the PTX that it runs. Those that it does not notice are explained in README.md.
#include "test/e2e/optable/Mutations.h"
#include "test/e2e/optable/Runners.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

constexpr size_t kMutations = 20, kLeastCaught = 18;
constexpr unsigned kSeed = 20;

OpCase rowNamed(const std::string &name) {
  for (const OpCase &row : opTable())
    if (row.name == name)
      return row;
  ADD_FAILURE() << "no row " << name << " in the op table";
  return {};
}

class MutationTest : public testing::TestWithParam<const char *> {};

TEST_P(MutationTest, at_least_18_of_20_are_caught) {
  OpCase row = rowNamed(GetParam());
  std::string error, survivors;
  CompiledCase compiled = compileCase(row, error);
  ASSERT_EQ(error, "");
  ASSERT_EQ(judge(compiled, *ptxRunner(compiled, compiled.ptx), row.bound).findings, std::vector<std::string>());
  std::vector<Mutation> mutations = mutationsOf(compiled.ptx, kMutations, kSeed);
  ASSERT_EQ(mutations.size(), kMutations);
  size_t caught = 0;
  for (const Mutation &mutation : mutations) {
    std::vector<std::string> findings = judge(compiled, *ptxRunner(compiled, mutated(compiled.ptx, mutation)), row.bound).findings;
    std::string line = mutation.kind + " at line " + std::to_string(mutation.line) + ": '" + mutation.before + "' -> '" +
                       mutation.after + "'";
    printf("%s: %s\n", findings.empty() ? "SURVIVES" : "caught", (line + (findings.empty() ? "" : "\n  " + findings.front())).c_str());
    caught += !findings.empty();
    if (findings.empty())
      survivors += line + "\n";
  }
  EXPECT_GE(caught, kLeastCaught) << survivors;
}

INSTANTIATE_TEST_SUITE_P(rows, MutationTest,
                         testing::Values("linear_of_norm_33_70_130", "mlp_gelu_erf_70_1_33", "elements_8_lanes_130_33_70"),
                         [](const testing::TestParamInfo<const char *> &info) { return std::string(info.param); });

} // namespace
} // namespace llmc::test
