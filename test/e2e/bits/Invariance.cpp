// SPDX-License-Identifier: Apache-2.0
//
// One compiled model, every way to run it: pieces, threads, graphs, company, truncation, junk in memory, page sizes, delays.
#include "test/e2e/Goldens.h"
#include "test/e2e/bits/Schedules.h"
#include "test/e2e/compiled/CompileModel.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace llmc::test {
namespace {

struct Case {
  const char *name; ///< a golden, or "wide": hidden 512, so that every command has at least 8 chunks
  size_t tokens;
  const char *kv = "auto";
  const char *target = "cpu:native";
};

void PrintTo(const Case &value, std::ostream *out) {
  *out << value.name << " " << value.kv << " " << value.target;
}

class Invariance : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    std::filesystem::create_directories(LLMC_TEST_MODELS);
    ModelRequest request;
    // Each test is a process of its own.
    std::string stem = std::string(LLMC_TEST_MODELS) + "/" + GetParam().name + "-" +
                       std::to_string(getpid());
    request.kv = GetParam().kv;
    request.target = GetParam().target;
    if (request.target == "cpu:x86-64-v4" && !__builtin_cpu_supports("x86-64-v4"))
      GTEST_SKIP() << "this machine has no AVX-512";
    request.output = stem + ".so";
    request.input = goldenModel(GetParam().name);
    if (isWide()) {
      request.input = stem + ".json";
      Status written = writeRandomModel({512, 1024, 640, 2, 8, 2, 64, 512, 11}, request.input);
      ASSERT_TRUE(written.ok()) << written.error().str();
    }
    Result<CompiledModel> compiled = compileModel(request);
    ASSERT_TRUE(compiled) << compiled.error().str();
    std::string error;
    expected = canonical(request.output, GetParam().tokens, 5, error);
    ASSERT_EQ(error, "");
  }
  void TearDown() override {
    if (expected.path.empty())
      return;
    for (const char *ending : {".so", ".json"}) {
      std::error_code code;
      std::filesystem::path path(expected.path);
      std::filesystem::remove(path.replace_extension(ending), code);
    }
  }

  bool isWide() const { return GetParam().name == std::string("wide"); }
  Canonical expected;
};

TEST_P(Invariance, piecesThreadsAndGraphs) {
  const size_t whole = expected.tokens.size();
  for (uint32_t threads : {1u, 2u, 4u})
    for (size_t most : {whole, size_t(64), size_t(7), size_t(1)})
      EXPECT_EQ(inPieces(expected, {threads}, most, LLMC_STEP_AUTO), "")
          << threads << " threads, pieces of " << most;
  EXPECT_EQ(inPieces(expected, {2}, 1, LLMC_STEP_PREFILL), "") << "prefill, row by row";
  EXPECT_EQ(inPieces(expected, {2}, 1, LLMC_STEP_VERIFY), "") << "verify, row by row";
  EXPECT_EQ(inPieces(expected, {2}, 8, LLMC_STEP_VERIFY), "") << "verify, eight rows";
  EXPECT_EQ(inPieces(expected, {2}, 3, LLMC_STEP_PREFILL), "") << "prefill, three rows";
  EXPECT_EQ(throughAllGraphs(expected, {2}), "");
}

TEST_P(Invariance, companyTruncationJunkAndPages) {
  for (uint32_t threads : {1u, 2u})
    for (uint64_t seed : {1u, 2u, 3u})
      EXPECT_EQ(amongFour(expected.path, expected.tokens.size(), {threads}, seed), "")
          << "seed " << seed;
  for (uint32_t threads : {1u, 2u})
    EXPECT_EQ(afterTruncation(expected, {threads}, 9), "");
  for (Junk junk : {Junk::Zeros, Junk::QuietNaN, Junk::SignallingNaN, Junk::Infinity, Junk::Noise}) {
    EXPECT_EQ(inPieces(expected, {2, nullptr, junk}, 64, LLMC_STEP_AUTO), "") << int(junk);
    EXPECT_EQ(throughAllGraphs(expected, {2, nullptr, junk}), "") << int(junk);
  }
  for (uint32_t chunks : {1u, 2u, 3u, 8u}) {
    RunnerOptions options;
    options.pageChunks = chunks;
    EXPECT_EQ(inPieces(expected, options, 64, LLMC_STEP_AUTO), "") << chunks << " chunks a page";
    EXPECT_EQ(amongFour(expected.path, expected.tokens.size(), options, 4), "") << chunks;
  }
}

TEST_P(Invariance, delaysAtTheClaims) {
  EXPECT_EQ(withDelays(expected, {2}, isWide() ? 30 : 25, 1), "") << "2 threads";
  EXPECT_EQ(withDelays(expected, {4}, isWide() ? 20 : 25, 2), "") << "4 threads";
}

INSTANTIATE_TEST_SUITE_P(models, Invariance,
                         testing::Values(Case{"llama-three-heads-65", 150},
                                         Case{"mistral-window-70", 200},
                                         Case{"qwen3-bias", 130}, Case{"wide", 210},
                                         Case{"wide", 210, "bf16"},
                                         Case{"mistral-window-70", 200, "bf16", "cpu:x86-64-v3"},
                                         Case{"llama-three-heads-65", 150, "bf16", "cpu:x86-64-v4"},
                                         Case{"wide", 210, "int8"},
                                         Case{"mistral-window-70", 200, "int8", "cpu:x86-64-v3"},
                                         Case{"qwen3-bias", 130, "auto", "cpu:x86-64-v4"}),
                         [](const testing::TestParamInfo<Case> &info) {
                           std::string name = info.param.name;
                           if (info.param.kv != std::string("auto"))
                             name += std::string("-") + info.param.kv;
                           if (info.param.target != std::string("cpu:native"))
                             name += std::string(info.param.target).substr(10);
                           for (char &letter : name)
                             letter = letter == '-' ? '_' : letter;
                           return name;
                         });

} // namespace
} // namespace llmc::test
