// SPDX-License-Identifier: Apache-2.0
//
// What the reference refuses to run, and how it says so.
#include "test/dialects/llm/reference/TestModel.h"

namespace llmc::reference {
namespace {

using test::ParsedModule;
using test::smallConfig;
using test::SmallModel;

std::string errorOf(Interpreter &interpreter, const Step &step, llvm::StringRef graph = "prefill") {
  auto outputs = interpreter.run(graph, step);
  return outputs ? "no error" : outputs.error().str();
}

TEST(ReferenceErrors, unknownGraph) {
  SmallModel model(smallConfig());
  EXPECT_EQ(errorOf(model.interpreter, StepBuilder().add(0, {1}, 0, Wanted::All).take(), "denoise"),
            "llama: error: 'builtin.module' op found no graph 'denoise', expected a function with "
            "llm.graph");
}

TEST(ReferenceErrors, stepIsChecked) {
  SmallModel model(smallConfig());
  EXPECT_EQ(errorOf(model.interpreter, Step()),
            "step: positions: error: found no rows, expected at least 1");
}

TEST(ReferenceErrors, tokenOutsideTheVocabulary) {
  SmallModel model(smallConfig());
  EXPECT_EQ(errorOf(model.interpreter, StepBuilder().add(0, {37}, 0, Wanted::All).take()),
            "embed: error: 'llm.embed' op reads row 37 of @embed, expected 0 to 36");
}

TEST(ReferenceErrors, positionBeyondTheRopeTable) {
  SmallModel model(smallConfig());
  EXPECT_EQ(errorOf(model.interpreter, StepBuilder().add(0, {1}, 256, Wanted::All).take()),
            "layers.0.q_rope: error: 'llm.rope' op reads row 256 of @rope, expected 0 to 255");
}

TEST(ReferenceErrors, slotThatWasNeverWritten) {
  SmallModel model(smallConfig());
  EXPECT_EQ(errorOf(model.interpreter, StepBuilder().add(8, {1}, 2, Wanted::All).take()),
            "layers.0.attention: error: 'llm.attention' op at row 0 reads slot 0 of sequence 8, "
            "expected it to be written before");
}

TEST(ReferenceErrors, rowBeforeItsSequence) {
  SmallModel model(smallConfig());
  Step step = StepBuilder().add(0, {1}, 0, Wanted::All).take();
  step.sequences[0].base = 64;
  EXPECT_EQ(errorOf(model.interpreter, step),
            "layers.0.attention: error: 'llm.attention' op at row 0, position 0, sees no key, "
            "expected positions from 64");
}

TEST(ReferenceErrors, embeddingsOfAnotherWidth) {
  SmallModel model(smallConfig());
  Step step = StepBuilder().add(0, {1, 2}, 0, Wanted::All).take();
  step.embeddings.resize(39);
  EXPECT_EQ(errorOf(model.interpreter, step),
            "embed: error: 'llm.embed' op is given 39 values as embeddings, expected 2 x 20");
}

constexpr const char *linearText = R"(
llm.weight @w : !llm.weight<4x2xf32> from ["a", "b"]
llm.weight @n : !llm.weight<2xf32> from ["n"]
func.func @prefill(%x: tensor<?x2xf32>) -> tensor<?x4xf32> attributes {llm.graph = "prefill"} {
  %y = llm.linear %x, @w : tensor<?x2xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
)";

/// The error of `linearText` on the given weights, the input being given or not.
std::string linearError(const test::GivenWeights &weights, const Tensor *input) {
  ParsedModule parsed(linearText, weights);
  auto linear = parsed.find<llm::LinearOp>();
  Environment environment;
  if (input)
    environment[linear.getInput()] = *input;
  Caches caches;
  Status status = parsed.interpreter.evaluate(
      linear, environment, StepBuilder().add(0, {1}, 0, Wanted::All).take(), caches);
  return status ? "no error" : status.error().str();
}

TEST(ReferenceErrors, weightsThatDoNotFit) {
  Tensor input(1, 2, {1, 1});
  test::GivenWeights weights;
  EXPECT_EQ(linearError(weights, &input), "test.mlir: 2:1: error: 'llm.weight' op names the source "
                                          "'a', expected a tensor of the weights given");
  weights.add("a", {3, 2}, std::vector<float>(6));
  weights.add("b", {1, 3}, std::vector<float>(3));
  EXPECT_EQ(linearError(weights, &input),
            "test.mlir: 2:1: error: 'llm.weight' op expects its sources stacked to make [4, 2], "
            "found 'b' of [1, 3]\nnote: the tensor comes from given weights");
  weights.add("b", {2, 2}, std::vector<float>(4));
  EXPECT_NE(linearError(weights, &input).find("found 'b' of [2, 2]"), std::string::npos);
  weights.add("a", {1, 2}, std::vector<float>(2));
  EXPECT_EQ(linearError(weights, &input), "test.mlir: 2:1: error: 'llm.weight' op expects its "
                                          "sources stacked to make [4, 2], found 3 rows");
  weights.add("a", {2, 2}, std::vector<float>(4));
  EXPECT_EQ(linearError(weights, &input), "no error");
}

TEST(ReferenceErrors, valuesThatDoNotFit) {
  test::GivenWeights weights;
  weights.add("a", {2, 2}, std::vector<float>(4));
  weights.add("b", {2, 2}, std::vector<float>(4));
  Tensor wide(1, 3, {1, 1, 1}), many(2, 2, {1, 1, 1, 1});
  EXPECT_EQ(linearError(weights, nullptr),
            "test.mlir: 5:8: error: 'llm.linear' op has an operand without a value, expected it "
            "to be computed before or given");
  EXPECT_EQ(linearError(weights, &wide),
            "test.mlir: 5:8: error: 'llm.linear' op has an operand of 1 x 3, expected 1 x 2");
  EXPECT_EQ(linearError(weights, &many),
            "test.mlir: 5:8: error: 'llm.linear' op has an operand of 2 x 2, expected 1 x 2");
}

TEST(ReferenceErrors, unknownOp) {
  test::GivenWeights weights;
  ParsedModule parsed(R"(
func.func @prefill(%step: !llm.step) attributes {llm.graph = "prefill"} {
  "other.op"(%step) : (!llm.step) -> ()
  return
})",
                      weights);
  ASSERT_TRUE(parsed.module);
  EXPECT_EQ(errorOf(parsed.interpreter, StepBuilder().add(0, {1}, 0, Wanted::All).take()),
            "test.mlir: 3:3: error: 'other.op' op has no reference implementation, expected an op "
            "of the llm dialect on tensors");
}

} // namespace
} // namespace llmc::reference
