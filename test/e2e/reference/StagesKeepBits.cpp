// SPDX-License-Identifier: Apache-2.0
//
// The stages from graph to schedule change how a model is run, not what it computes: the reference
// gives the same bits before and after them, on every golden model and in all three graphs.
#include "dialects/llm/reference/Interpreter.h"
#include "frontends/ModelBuilder.h"
#include "frontends/Open.h"
#include "passes/Pipeline.h"
#include "test/e2e/Goldens.h"

#include <gtest/gtest.h>

namespace llmc {
namespace {

using reference::StepBuilder;
using reference::Wanted;

/// All results of a prefill, a decode step and a verify step.
struct Results {
  std::vector<std::vector<float>> logits;
  std::vector<int32_t> accepted;
};

Results runGraphs(mlir::ModuleOp module, const model::WeightSource &weights,
                  const test::Golden &golden) {
  reference::Interpreter interpreter(module, weights);
  int32_t length = int32_t(golden.prompt.size());
  const std::pair<llvm::StringRef, reference::Step> steps[] = {
      {"prefill", StepBuilder().add(0, golden.prompt, 0, Wanted::All).take()},
      {"decode", StepBuilder().add(0, {golden.greedy[0]}, length, Wanted::Last).take()},
      {"verify", StepBuilder()
                     .add(0, {golden.greedy[1], golden.greedy[2], 0}, length + 1, Wanted::All)
                     .take()}};
  Results results;
  for (const auto &[graph, step] : steps) {
    auto outputs = interpreter.run(graph, step);
    if (!outputs) {
      ADD_FAILURE() << graph.str() << ": " << outputs.error().str();
      return results;
    }
    results.logits.push_back(outputs->logits.values);
    results.accepted = outputs->accepted.integers;
  }
  return results;
}

class StagesKeepBits : public testing::TestWithParam<std::string> {};

TEST_P(StagesKeepBits, fromImportToSchedule) {
  auto golden = test::readGolden(GetParam());
  ASSERT_TRUE(golden) << golden.error().str();
  auto model = openModel(test::goldenModel(GetParam()));
  ASSERT_TRUE(model) << model.error().str();
  mlir::MLIRContext context;
  auto module = buildModule(context, model->config);
  ASSERT_TRUE(module) << module.error().str();
  Results expected = runGraphs(**module, *model->weights, *golden);
  ASSERT_EQ(expected.logits.size(), 3u);
  for (const char *fuseNorm : {"cost", "always", "never"})
    for (const char *layout : {"head_major", "token_major"}) {
      SCOPED_TRACE(std::string("fuse norm: ") + fuseNorm + ", layout: " + layout);
      mlir::OwningOpRef<mlir::ModuleOp> staged = (**module).clone();
      PipelineOptions options;
      options.target = "cpu:x86-64-v3";
      options.fuseNorm = fuseNorm;
      options.kvLayout = layout;
      mlir::PassManager passes(&context);
      addStages(passes, "import", "schedule", options);
      ASSERT_TRUE(mlir::succeeded(passes.run(*staged)));
      int regions = 0;
      staged->walk([&](llm::FusedOp op) { regions += op.getSchedule().has_value(); });
      EXPECT_GT(regions, 0) << "the stages left no scheduled region";
      Results found = runGraphs(*staged, *model->weights, *golden);
      EXPECT_EQ(found.logits, expected.logits);
      EXPECT_EQ(found.accepted, expected.accepted);
    }
}

std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(all, StagesKeepBits, testing::ValuesIn(test::goldenNames()), testName);

} // namespace
} // namespace llmc
