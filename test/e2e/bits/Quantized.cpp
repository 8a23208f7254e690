// SPDX-License-Identifier: Apache-2.0
//
// Models whose weights are kept in groups, or as bf16, on every level that this machine has: the
// same bits in pieces, on threads, in company, after truncation, under any schedule; and the same
// on all levels.
#include "test/e2e/bits/Schedules.h"
#include "test/e2e/compiled/CompileModel.h"
#include "test/e2e/gguf/GGUFGoldens.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace llmc::test {
namespace {

constexpr size_t kTokens = 130; // with the three that keep it company below 256 positions

std::vector<std::string> levelsHere() {
  std::vector<std::string> levels = {"x86-64-v3"};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    levels.push_back("x86-64-v4");
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bf16"))
      levels.push_back("x86-64-v4+vnni+bf16");
  }
  return levels;
}

/// A way to quantise: of random weights as --quant says, or as a GGUF file stores them.
struct Model {
  const char *name, *quant, *gguf;
  size_t level; ///< on which schedules are tried, of those that are here
  const char *kv = "auto";
};
constexpr Model kModels[] = {{"int8", "int8", "", 0},
                             {"int4", "int4", "", 2, "int8"},
                             {"mixed", "keep", "llama-q4_1-q8_0", 1},
                             {"bf16", "bf16", "", 2}};

void PrintTo(const Model &model, std::ostream *out) { *out << model.name; }

class Quantized : public testing::TestWithParam<Model> {
protected:
  void SetUp() override {
    std::filesystem::create_directories(LLMC_TEST_MODELS);
    stem = std::string(LLMC_TEST_MODELS) + "/quantised-" + GetParam().name + "-" +
           std::to_string(getpid());
    request.quant = GetParam().quant;
    request.kv = GetParam().kv;
    request.output = stem + ".so";
    request.input = *GetParam().gguf ? ggufFile(GetParam().gguf) : stem + ".json";
    if (*GetParam().gguf)
      return;
    // 100 tokens and an MLP of 160: panels of 32 rows that are not full.
    Status written = writeRandomModel({64, 160, 100, 2, 4, 2, 16, 512, 23}, request.input);
    ASSERT_TRUE(written.ok()) << written.error().str();
  }
  void TearDown() override {
    std::error_code code;
    for (const char *ending : {".so", ".json"})
      std::filesystem::remove(stem + ending, code);
  }
  void compile(const std::string &level, const std::string &schedule = "") {
    request.target = "cpu:" + level;
    request.schedule = schedule;
    Result<CompiledModel> compiled = compileModel(request);
    ASSERT_TRUE(compiled) << level << " " << schedule << ": " << compiled.error().str();
  }
  void compileCanonical(const std::string &level, const std::string &schedule,
                        Canonical &expected) {
    ASSERT_NO_FATAL_FAILURE(compile(level, schedule));
    std::string error;
    expected = canonical(request.output, kTokens, 5, error);
    ASSERT_EQ(error, "") << level;
  }

  std::string stem;
  ModelRequest request;
};

TEST_P(Quantized, piecesThreadsCompanyAndTruncation) {
  for (const std::string &level : levelsHere()) {
    SCOPED_TRACE(level);
    Canonical expected;
    ASSERT_NO_FATAL_FAILURE(compileCanonical(level, "", expected));
    for (uint32_t threads : {1u, 2u}) {
      for (size_t most : {size_t(64), size_t(7), size_t(1)})
        EXPECT_EQ(inPieces(expected, {threads}, most, LLMC_STEP_AUTO), "")
            << threads << " threads, pieces of " << most;
      EXPECT_EQ(amongFour(expected.path, kTokens, {threads}, threads), "");
      EXPECT_EQ(afterTruncation(expected, {threads}, 9), "");
      EXPECT_EQ(throughAllGraphs(expected, {threads}), "");
    }
    for (Junk junk : {Junk::SignallingNaN, Junk::Noise})
      EXPECT_EQ(inPieces(expected, {2, nullptr, junk}, 9, LLMC_STEP_VERIFY), "") << int(junk);
    EXPECT_EQ(inPieces(expected, {2}, 3, LLMC_STEP_PREFILL), "");
  }
}

class QuantizedSchedules : public Quantized {};

TEST_P(QuantizedSchedules, changeNoBit) {
  const std::vector<std::string> here = levelsHere();
  const std::string level = here[std::min(GetParam().level, here.size() - 1)];
  Canonical expected;
  ASSERT_NO_FATAL_FAILURE(compileCanonical(level, "", expected));
  for (const char *schedule :
       {"linear:row_tile=1,linear:panels=4,chunk=1",
        "linear:row_tile=3,linear:panels=2,decode:linear:row_tile=2,verify:linear:panels=3",
        "linear:row_tile=8,linear:panels=1,chunk=3",
        "linear:row_tile=3,linear:across=8,linear:k_tile=64,decode:linear:row_tile=2",
        "linear:row_tile=5,linear:across=16,linear:k_tile=32,prefill:linear:panels=4"}) {
    ASSERT_NO_FATAL_FAILURE(compile(level, schedule));
    EXPECT_EQ(throughAllGraphs(expected, {2}), "") << schedule;
    EXPECT_EQ(inPieces(expected, {1}, 7, LLMC_STEP_AUTO), "") << schedule;
  }
  // What could not be told apart could not be tested: sums in another tree show.
  ASSERT_NO_FATAL_FAILURE(compile(level, "linear:k_split=2"));
  EXPECT_NE(throughAllGraphs(expected, {2}), "");
}

// Integers are exact and scales are applied in one order, so an instruction set shows in no bit;
// lanes of sums of floats are a level's own unless they are forced.
TEST_P(Quantized, levels) {
  Canonical first;
  for (const std::string &level : levelsHere()) {
    Canonical found;
    ASSERT_NO_FATAL_FAILURE(compileCanonical(level, "lanes=16", found));
    if (first.logits.empty())
      first = found;
    EXPECT_EQ(differenceOf(found.logits, first.logits, first.vocabulary), "") << level;
  }
}

std::string nameOf(const testing::TestParamInfo<Model> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(models, Quantized, testing::ValuesIn(kModels), nameOf);
// Floats of any width have the kernels that Variants tries.
INSTANTIATE_TEST_SUITE_P(models, QuantizedSchedules, testing::ValuesIn(kModels, kModels + 3),
                         nameOf);

} // namespace
} // namespace llmc::test
