// SPDX-License-Identifier: Apache-2.0
//
// Compiled models against Hugging Face transformers: folder -> model.so -> libllmc, on every golden model.
#include "test/e2e/Goldens.h"
#include "test/e2e/compiled/CompileModel.h"
#include "test/e2e/compiled/Runner.h"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

class CompiledGoldens : public testing::TestWithParam<std::string> {};

TEST_P(CompiledGoldens, logitsAtAllPositionsAndGreedyTokens) {
  Result<Golden> golden = readGolden(GetParam());
  ASSERT_TRUE(golden) << golden.error().str();
  ModelRequest request;
  request.input = goldenModel(GetParam());
  request.kv = "f32"; // transformers rounds no cache
  request.output = std::string(LLMC_TEST_MODELS) + "/" + GetParam() + ".so";
  std::filesystem::create_directories(LLMC_TEST_MODELS);
  Result<CompiledModel> compiled = compileModel(request);
  ASSERT_TRUE(compiled) << compiled.error().str();

  Runner runner(request.output, {2, nullptr, Junk::QuietNaN});
  ASSERT_TRUE(runner.ok()) << runner.error();
  ASSERT_EQ(int64_t(runner.vocabulary()), golden->vocabulary);
  llmc_sequence *sequence = runner.sequence();
  Logits logits = runner.feed(sequence, golden->prompt, golden->prompt.size());
  ASSERT_EQ(logits.size(), golden->logits.size()) << runner.error();
  float largest = 0;
  size_t worst = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    float difference = std::fabs(logits[i] - golden->logits[i]);
    if (!(difference <= largest))
      largest = difference, worst = i;
  }
  EXPECT_LE(largest, logitsBound) << "at position " << int64_t(worst) / golden->vocabulary
                                  << ", token " << int64_t(worst) % golden->vocabulary;
  std::printf("%s: largest difference %.2e, compiled in %.2f s (code %.2f s), %zu kernels\n",
              GetParam().c_str(), largest, compiled->seconds, compiled->codeSeconds,
              compiled->kernels);

  const float *last = logits.data() + (golden->positions - 1) * golden->vocabulary;
  EXPECT_EQ(runner.greedy(sequence, last, golden->greedy.size()), golden->greedy)
      << runner.error();
}

std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  for (char &letter : name)
    letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(all, CompiledGoldens, testing::ValuesIn(goldenNames()), testName);

TEST(CompiledGoldensCount, asManyAsAccepted) { EXPECT_GE(goldenNames().size(), 24u); }

} // namespace
} // namespace llmc::test
