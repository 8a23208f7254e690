// SPDX-License-Identifier: Apache-2.0
//
// GGUF file -> config -> module -> interpreter, with weights as float32, against transformers on
// the dequantised weights and against llama.cpp on the file.
#include "dialects/llm/reference/Interpreter.h"
#include "frontends/ModelBuilder.h"
#include "frontends/Open.h"
#include "test/e2e/gguf/GGUFGoldens.h"

#include <gtest/gtest.h>

namespace llmc::test {
namespace {

using reference::StepBuilder;
using reference::Wanted;

class ReferenceGGUF : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceGGUF, logitsAtAllPositions) {
  Result<GGUFGolden> golden = readGGUFGolden(GetParam());
  ASSERT_TRUE(golden) << golden.error().str();
  Result<OpenedModel> model = openModel(ggufFile(GetParam()));
  ASSERT_TRUE(model) << model.error().str();
  mlir::MLIRContext context;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> module = buildModule(context, model->config);
  ASSERT_TRUE(module) << module.error().str();
  reference::Interpreter interpreter(**module, *model->weights);
  auto outputs =
      interpreter.run("prefill", StepBuilder().add(0, golden->prompt, 0, Wanted::All).take());
  ASSERT_TRUE(outputs) << outputs.error().str();
  const auto &found = outputs->logits.values;
  std::vector<float> logits(found.begin(), found.end());
  EXPECT_LE(largestDifference(logits, golden->transformers), logitsBound);
  if (golden->llamaCpp.empty())
    return;
  if (golden->type == "F32")
    EXPECT_LE(largestDifference(logits, golden->llamaCpp), logitsBound);
  else
    EXPECT_LE(nmse(logits, golden->llamaCpp), nmseBound);
}

INSTANTIATE_TEST_SUITE_P(all, ReferenceGGUF, testing::ValuesIn(ggufNames()), [](const auto &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
});

} // namespace
} // namespace llmc::test
