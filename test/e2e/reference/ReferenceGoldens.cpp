// SPDX-License-Identifier: Apache-2.0
//
// The reference against Hugging Face transformers: folder -> config -> module -> interpreter, on
// every golden model.
#include "dialects/llm/reference/Interpreter.h"
#include "frontends/ModelBuilder.h"
#include "frontends/Open.h"
#include "test/e2e/Goldens.h"

#include <cmath>
#include <gtest/gtest.h>

namespace llmc {
namespace {

using reference::StepBuilder;
using reference::Wanted;

class ReferenceGoldens : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    Result<test::Golden> readGolden = test::readGolden(GetParam());
    ASSERT_TRUE(readGolden) << readGolden.error().str();
    golden = std::move(*readGolden);
    Result<OpenedModel> opened = openModel(test::goldenModel(GetParam()));
    ASSERT_TRUE(opened) << opened.error().str();
    model = std::move(*opened);
    Result<mlir::OwningOpRef<mlir::ModuleOp>> built = buildModule(context, model.config);
    ASSERT_TRUE(built) << built.error().str();
    module = std::move(*built);
  }

  mlir::MLIRContext context;
  test::Golden golden;
  OpenedModel model;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_P(ReferenceGoldens, logitsAtAllPositions) {
  reference::Interpreter interpreter(*module, *model.weights);
  auto outputs =
      interpreter.run("prefill", StepBuilder().add(0, golden.prompt, 0, Wanted::All).take());
  ASSERT_TRUE(outputs) << outputs.error().str();
  ASSERT_EQ(outputs->logits.lines, golden.positions);
  ASSERT_EQ(outputs->logits.width, golden.vocabulary);
  float largest = 0;
  size_t worst = 0;
  for (size_t i = 0; i < golden.logits.size(); ++i) {
    float difference = std::fabs(outputs->logits.values[i] - golden.logits[i]);
    if (!(difference <= largest))
      largest = difference, worst = i;
  }
  EXPECT_LE(largest, test::logitsBound) << "at position " << int64_t(worst) / golden.vocabulary
                                        << ", token " << int64_t(worst) % golden.vocabulary;
  RecordProperty("largest_difference", std::to_string(largest));
}

TEST_P(ReferenceGoldens, greedyTokens) {
  reference::Interpreter interpreter(*module, *model.weights);
  auto tokens =
      reference::greedyGenerate(interpreter, golden.prompt, int64_t(golden.greedy.size()), {});
  ASSERT_TRUE(tokens) << tokens.error().str();
  EXPECT_EQ(*tokens, golden.greedy);
}

std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(all, ReferenceGoldens, testing::ValuesIn(test::goldenNames()), testName);

TEST(ReferenceGoldensCount, asManyAsAccepted) { EXPECT_GE(test::goldenNames().size(), 24u); }

} // namespace
} // namespace llmc
