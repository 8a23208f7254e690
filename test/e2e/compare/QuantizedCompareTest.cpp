// SPDX-License-Identifier: Apache-2.0
//
// llmc compare on models whose weights and rows are kept in groups: nothing where nothing is wrong,
// and what goes wrong with groups by its command and op: scales, minimums, nibbles, biases, codes.
#include "test/e2e/compare/Planting.h"
#include "test/e2e/gguf/GGUFGoldens.h"
#include "tools/llmc/compiler/Compare.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace llmc {
namespace {

using test::KernelText;

/// A golden of test/e2e/gguf and the format that it is compiled to.
struct Model {
  const char *golden, *quant;
};

CompileRequest compileRequest(const Model &model) {
  CompileRequest request;
  request.input = test::ggufFile(model.golden);
  request.pipeline.quant = model.quant;
  return request;
}

compare::CompareRequest requestFor(const std::string &artifact, const Model &model) {
  compare::CompareRequest request;
  request.artifact.path = artifact;
  request.artifact.threads = 2;
  request.model = test::ggufFile(model.golden);
  auto read = test::readGGUFGolden(model.golden);
  EXPECT_TRUE(read) << read.error().str();
  if (read)
    for (int32_t id : read->prompt)
      request.prompt.ids += (request.prompt.ids.empty() ? "" : ",") + std::to_string(id);
  return request;
}

//===--- Nothing wrong ---===//

struct CleanCase {
  Model model;
  const char *fuseNorm = "cost";
  const char *kv = "auto";
};

void PrintTo(const CleanCase &value, std::ostream *out) {
  *out << value.model.golden << " " << value.model.quant << " " << value.kv;
}

class CleanQuantized : public testing::TestWithParam<CleanCase> {};

TEST_P(CleanQuantized, hasNoDifference) {
  CompileRequest request = compileRequest(GetParam().model);
  request.pipeline.fuseNorm = GetParam().fuseNorm;
  request.pipeline.kv = GetParam().kv;
  std::string model = test::compiled(request, "clean.so");
  auto report = compare::compareModels(requestFor(model, GetParam().model));
  std::remove(model.c_str());
  ASSERT_TRUE(report) << report.error().str();
  EXPECT_FALSE(report->difference)
      << report->difference->command << " " << report->difference->worst.error;
  EXPECT_GT(report->largestShare, 0);
  EXPECT_LT(report->largestShare, 0.8);
  RecordProperty("share", std::to_string(report->largestShare));
}

/// From end to end too, once undecided roundings are taken over; every row of logits is looked at.
TEST_P(CleanQuantized, staysTogetherFromEndToEnd) {
  CompileRequest request = compileRequest(GetParam().model);
  request.pipeline.fuseNorm = GetParam().fuseNorm;
  request.pipeline.kv = GetParam().kv;
  std::string model = test::compiled(request, "clean-together.so");
  compare::CompareRequest comparison = requestFor(model, GetParam().model);
  comparison.endToEnd = true;
  auto report = compare::compareModels(comparison);
  ASSERT_TRUE(report) << report.error().str();
  ASSERT_FALSE(report->difference);
  const compare::Divergence &found = report->divergence;
  EXPECT_GE(found.rows, std::count(comparison.prompt.ids.begin(), comparison.prompt.ids.end(), ','));
  EXPECT_LE(found.sum / double(found.rows), 1e-8);
  std::remove(model.c_str());
}

INSTANTIATE_TEST_SUITE_P(Goldens, CleanQuantized,
                         testing::Values(CleanCase{{"llama-f32", "int8"}},
                                         CleanCase{{"llama-f32", "int4"}, "always"},
                                         CleanCase{{"llama-q4_1-q8_0", "keep"}, "cost", "bf16"},
                                         CleanCase{{"qwen3-q4_0", "keep"}, "never", "f32"},
                                         CleanCase{{"qwen2-q8_0", "int4"}, "cost", "int8"}),
                         [](const auto &info) { return "n" + std::to_string(info.index); });

//===--- Planted faults ---===//

constexpr Model kInt8 = {"llama-f32", "int8"}, kInt4 = {"llama-f32", "int4"},
                kMinimum = {"llama-q4_1-q8_0", "keep"};

struct Fault {
  const char *kind;
  Model model;
  const char *graph, *command;
  const char *op; ///< that must be named
  test::KernelEdit edit;
};

const Fault kFaults[] = {
    {"scale_of_the_next_row", kInt8, "prefill", "layers.1.gate_up", "llm.linear",
     [](KernelText &k) { k.replace("%c512 = arith.constant 512", "%c512 = arith.constant 513"); }},
    {"products_one_too_large", kInt8, "decode", "lm_head", "llm.lm_head",
     [](KernelText &k) { k.replace("dense<0xCB400000>", "dense<-12582911.0>"); }},
    {"dropped_minimum", kMinimum, "decode", "layers.0.down", "llm.linear",
     [](KernelText &k) {
       k.replace("tile\\.load .*, %c288\\].* : <.*> -> (tensor<32xf16>)",
                 "arith.constant dense<0.0> : $1");
     }},
    {"minimum_of_the_next_row", kMinimum, "prefill", "layers.1.qkv", "llm.linear",
     [](KernelText &k) { k.replace("%c288 = arith.constant 288", "%c288 = arith.constant 287"); }},
    {"minimum_without_the_sum", kMinimum, "verify", "layers.1.o", "llm.linear",
     [](KernelText &k) { k.replace("%c20 = arith.constant 20", "%c20 = arith.constant 16"); }}, // the scale alone
    {"low_nibbles_twice", kInt4, "decode", "layers.1.o", "llm.linear",
     [](KernelText &k) { k.replace("dense<4> : tensor<32xi32>", "dense<0> : tensor<32xi32>"); }},
    {"bias_of_4_bits", kInt4, "verify", "layers.0.qkv", "llm.linear",
     [](KernelText &k) { k.replace("constant -8 : i32", "constant -7 : i32"); }},
    {"bias_of_8_bits", kInt8, "decode", "layers.1.down", "llm.linear",
     [](KernelText &k) { k.replace("constant -128 : i32", "constant -127 : i32"); }},
    {"bias_of_the_embedding", kInt8, "prefill", "embed", "llm.embed",
     [](KernelText &k) { k.replace("dense<128>", "dense<127>"); }},
    {"scale_of_rows", kInt4, "prefill", "layers.1.mlp_norm", "llm.quantize",
     [](KernelText &k) { k.replace("constant 1.270000e\\+02", "constant 1.280000e+02"); }},
    {"codes_one_too_large", kInt8, "decode", "layers.0.attn_norm", "llm.quantize",
     [](KernelText &k) { k.replace("dense<0x4B400000>", "dense<12582913.0>"); }},
    {"smallest_for_largest", kInt8, "prefill", "layers.0.mlp_norm", "llm.quantize",
     [](KernelText &k) { k.replace("tile.reduce max", "tile.reduce min"); }},
    // Right for what the codes stand for, wrong for who relies on it.
    {"sum_of_codes", kInt8, "prefill", "layers.0.o.quantize", "llm.quantize",
     [](KernelText &k) {
       k.replace("tile.reduce add (%\\d+ : tensor<32xi32>)", "tile.reduce max $1");
     }},
    {"norm_before_the_rounding", kInt8, "prefill", "layers.1.attn_norm", "llm.rms_norm",
     [](KernelText &k) { k.replace("constant [0-9.]+E-[0-9] : f32", "constant 1.0E-3 : f32"); }},
};

void PrintTo(const Fault &fault, std::ostream *out) { *out << fault.kind; }

class QuantizedFault : public testing::TestWithParam<Fault> {};

TEST_P(QuantizedFault, isNamedWithCommandAndOp) {
  const Fault &fault = GetParam();
  std::string model =
      test::plant(compileRequest(fault.model), fault.graph, fault.command, fault.edit);
  auto report = compare::compareModels(requestFor(model, fault.model));
  std::remove(model.c_str());
  ASSERT_TRUE(report) << report.error().str();
  ASSERT_TRUE(report->difference) << "no difference in " << report->commands << " commands";
  const compare::Difference &difference = *report->difference;
  RecordProperty("why", difference.why);
  RecordProperty("error_to_bound", std::to_string(difference.worst.error / difference.worst.bound));
  EXPECT_EQ(difference.command, fault.command);
  EXPECT_EQ(difference.graph, fault.graph);
  EXPECT_EQ(difference.op, fault.op) << difference.why;
  EXPECT_FALSE(difference.worst.error <= difference.worst.bound);
}

INSTANTIATE_TEST_SUITE_P(Kinds, QuantizedFault, testing::ValuesIn(kFaults),
                         [](const auto &info) { return std::string(info.param.kind); });

} // namespace
} // namespace llmc
