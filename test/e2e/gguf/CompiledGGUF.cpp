// SPDX-License-Identifier: Apache-2.0
//
// Compiled GGUF models: file -> model.so -> libllmc, caches in float32 as llama.cpp's goldens have
// them. As stored: float types against transformers and llama.cpp; types in groups, whose
// activations are rounded to int8 on both sides, against llama.cpp. With weights as float32: all
// against transformers.
#include "test/e2e/compiled/CompileModel.h"
#include "test/e2e/compiled/Runner.h"
#include "test/e2e/gguf/GGUFGoldens.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

class CompiledGGUF : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    Result<GGUFGolden> read = readGGUFGolden(GetParam());
    ASSERT_TRUE(read) << read.error().str();
    golden = std::move(*read);
  }

  // Of all positions of the prompt; empty after a failure.
  Logits logitsOf(const std::string &quant) {
    ModelRequest request;
    request.input = ggufFile(GetParam());
    request.output = std::string(LLMC_TEST_MODELS) + "/" + GetParam() + "-" + quant + ".so";
    request.quant = quant;
    request.kv = "f32";
    std::filesystem::create_directories(LLMC_TEST_MODELS);
    Result<CompiledModel> compiled = compileModel(request);
    EXPECT_TRUE(compiled) << compiled.error().str();
    if (!compiled)
      return {};
    Runner runner(request.output, {2, nullptr, Junk::QuietNaN});
    Logits logits = runner.feed(runner.sequence(), golden.prompt, golden.prompt.size());
    EXPECT_EQ(logits.size(), golden.transformers.size()) << runner.error();
    return logits;
  }

  GGUFGolden golden;
};

TEST_P(CompiledGGUF, asStored) {
  Logits logits = logitsOf("keep");
  float largest = largestDifference(logits, golden.transformers);
  double error = golden.llamaCpp.empty() ? 0 : nmse(logits, golden.llamaCpp);
  std::printf("%s: largest difference to transformers %.2e, NMSE to llama.cpp %.2e\n",
              GetParam().c_str(), largest, error);
  if (golden.isFloat())
    EXPECT_LE(largest, logitsBound);
  if (golden.llamaCpp.empty())
    return;
  if (golden.type == "F32")
    EXPECT_LE(largestDifference(logits, golden.llamaCpp), logitsBound);
  else
    EXPECT_LE(error, nmseBound);
}

TEST_P(CompiledGGUF, asFloats) {
  EXPECT_LE(largestDifference(logitsOf("f32"), golden.transformers), logitsBound);
}

INSTANTIATE_TEST_SUITE_P(all, CompiledGGUF, testing::ValuesIn(ggufNames()), [](const auto &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
});

} // namespace
} // namespace llmc::test
