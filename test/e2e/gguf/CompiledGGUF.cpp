// SPDX-License-Identifier: Apache-2.0
//
// Compiled GGUF models: file -> model.so -> libllmc. Float types against transformers and
// llama.cpp; types in groups, whose activations are rounded to int8 as llama.cpp rounds them,
// against llama.cpp.
#include "test/e2e/compiled/CompileModel.h"
#include "test/e2e/compiled/Runner.h"
#include "test/e2e/gguf/GGUFGoldens.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

class CompiledGGUF : public testing::TestWithParam<std::string> {};

TEST_P(CompiledGGUF, logitsAtAllPositions) {
  Result<GGUFGolden> golden = readGGUFGolden(GetParam());
  ASSERT_TRUE(golden) << golden.error().str();
  ModelRequest request;
  request.input = ggufFile(GetParam());
  request.output = std::string(LLMC_TEST_MODELS) + "/" + GetParam() + ".so";
  std::filesystem::create_directories(LLMC_TEST_MODELS);
  Result<CompiledModel> compiled = compileModel(request);
  ASSERT_TRUE(compiled) << compiled.error().str();

  Runner runner(request.output, {2, nullptr, Junk::QuietNaN});
  ASSERT_TRUE(runner.ok()) << runner.error();
  ASSERT_EQ(int64_t(runner.vocabulary()), golden->vocabulary);
  Logits logits = runner.feed(runner.sequence(), golden->prompt, golden->prompt.size());
  ASSERT_EQ(logits.size(), golden->transformers.size()) << runner.error();
  float largest = largestDifference(logits, golden->transformers);
  std::printf("%s: largest difference to transformers %.2e, NMSE to llama.cpp %.2e\n",
              GetParam().c_str(), largest,
              golden->llamaCpp.empty() ? 0.0 : nmse(logits, golden->llamaCpp));
  if (golden->isFloat())
    EXPECT_LE(largest, logitsBound);
  if (golden->llamaCpp.empty())
    return;
  if (golden->type == "F32")
    EXPECT_LE(largestDifference(logits, golden->llamaCpp), logitsBound);
  else
    EXPECT_LE(nmse(logits, golden->llamaCpp), nmseBound);
}

INSTANTIATE_TEST_SUITE_P(all, CompiledGGUF, testing::ValuesIn(ggufNames()), [](const auto &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
});

} // namespace
} // namespace llmc::test
