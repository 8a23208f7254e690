// SPDX-License-Identifier: Apache-2.0
//
// llmc compare finds what was planted: faults in the text of the tile stage, each in one command of
// one graph at a seeded layer, resumed from there. And it finds nothing where nothing is wrong.
#include "tools/llmc/compiler/Compare.h"
#include "test/e2e/Goldens.h"
#include "test/e2e/compare/Planting.h"

#include <gtest/gtest.h>
#include <random>

namespace llmc {
namespace {

using test::compiled;
using test::KernelText;

compare::CompareRequest requestFor(const std::string &artifact, const std::string &golden) {
  compare::CompareRequest request;
  request.artifact.path = artifact;
  request.artifact.threads = 2;
  request.model = test::goldenModel(golden);
  auto read = test::readGolden(golden);
  EXPECT_TRUE(read) << read.error().str();
  if (read)
    for (int32_t id : read->prompt)
      request.prompt.ids += (request.prompt.ids.empty() ? "" : ",") + std::to_string(id);
  return request;
}

//===--- Nothing wrong ---===//

struct CleanCase {
  const char *golden, *kvLayout, *fuseNorm;
  int64_t maxBatch;
  const char *kv = "auto";
};

class CleanModel : public testing::TestWithParam<CleanCase> {};

TEST_P(CleanModel, hasNoDifference) {
  CompileRequest request;
  request.input = test::goldenModel(GetParam().golden);
  request.pipeline.kvLayout = GetParam().kvLayout;
  request.pipeline.fuseNorm = GetParam().fuseNorm;
  request.pipeline.kv = GetParam().kv;
  request.maxBatch = GetParam().maxBatch;
  std::string model = compiled(request, "clean.so");
  auto report = compare::compareModels(requestFor(model, GetParam().golden));
  ASSERT_TRUE(report) << report.error().str();
  EXPECT_FALSE(report->difference)
      << report->difference->command << " " << report->difference->worst.error;
  EXPECT_EQ(report->steps, 7u); // two of the prompt, four of decode, one of verify
  EXPECT_GT(report->largestShare, 0);
  EXPECT_LT(report->largestShare, 0.5); // bounds have room, and are not idle
  std::remove(model.c_str());
}

INSTANTIATE_TEST_SUITE_P(Goldens, CleanModel,
                         testing::Values(CleanCase{"llama-deep", "head_major", "cost", 8},
                                         CleanCase{"mistral-window-70", "token_major", "always", 8},
                                         CleanCase{"qwen3-layer-types", "head_major", "never", 8},
                                         CleanCase{"llama-all-biases", "token_major", "cost", 1},
                                         CleanCase{"llama-deep", "head_major", "cost", 8, "bf16"},
                                         CleanCase{"qwen3-three-heads", "token_major", "always", 8,
                                                   "bf16"},
                                         CleanCase{"llama-deep", "head_major", "cost", 8, "int8"},
                                         CleanCase{"qwen3-three-heads", "token_major", "always", 8,
                                                   "int8"}),
                         [](const auto &info) { return "n" + std::to_string(info.index); });

//===--- Planted faults ---===//

struct Fault {
  const char *kind;
  const char *golden;
  int layers;
  const char *graph;
  const char *command; ///< after "layers.N."
  const char *op;      ///< that must be named
  /// Edits the kernel; null: the command's last operand becomes the result of the embedding.
  void (*edit)(KernelText &kernel);
  const char *kv = "auto";
};

/// Makes every load from a parameter give the same constant.
void replaceLoads(KernelText &kernel, const std::string &parameter, const std::string &value) {
  kernel.replace("tile\\.load " + parameter + "\\[.*\\].*-> (tensor<.*>)",
                 "arith.constant dense<" + value + "> : $1");
}

const Fault kFaults[] = {
    {"attention_scale", "llama-deep", 4, "prefill", "attention", "llm.attention",
     [](KernelText &k) {
       k.replace("dense<0\\.[0-9]+> : tensor<24xf32>", "dense<0.3125> : tensor<24xf32>");
     }},
    {"kv_head", "llama-deep", 4, "prefill", "attention", "llm.attention",
     [](KernelText &k) { k.replace("(kv_chunk .*\\[%\\w+, %\\w+, )%\\w+(\\].*)", "$1%c0$2"); }},
    {"stale_page_of_values", "llama-deep", 4, "decode", "attention", "llm.attention",
     [](KernelText &k) { k.replace("(kv_chunk value .*, .*\\[%[0-9]+, )%\\w+(, .*)", "$1%c0$2"); }},
    {"stale_page_on_append", "llama-deep", 4, "decode", "append", "llm.kv_append",
     [](KernelText &k) { k.replace("(kv_chunk key .*, .*\\[%[0-9]+, )%\\w+(, .*)", "$1%c0$2"); }},
    {"residual", "llama-deep", 4, "prefill", "down", "llm.add", nullptr},
    {"residual_of_attention", "qwen3-layer-types", 3, "verify", "o", "llm.add", nullptr},
    {"eps_in_a_fused_norm", "qwen3-layer-types", 3, "decode", "qkv", "llm.rms_norm",
     [](KernelText &k) { k.replace("constant [0-9.]+E-[0-9]+ : f32", "constant 1.0E-3 : f32"); }},
    {"eps", "llama-all-biases", 3, "prefill", "mlp_norm", "llm.rms_norm",
     [](KernelText &k) { k.replace("constant [0-9.]+E-[0-9]+ : f32", "constant 1.0E-3 : f32"); }},
    {"causal_mask", "llama-all-biases", 3, "prefill", "attention", "llm.attention",
     [](KernelText &k) { k.replace("cmpi sle", "cmpi slt"); }},
    {"window", "mistral-window-70", 2, "prefill", "attention", "llm.attention",
     [](KernelText &k) { k.replace("cmpi sgt", "cmpi sge"); }},
    {"position", "llama-all-biases", 3, "prefill", "append", "llm.rope",
     [](KernelText &k) {
       k.replace("(%[0-9]+) = tile\\.step_read positions (.*)",
                 "%p = tile.step_read positions $2\n$1 = arith.addi %p, %c1 : index");
     }},
    {"lane", "llama-deep", 4, "decode", "gate_up", "llm.linear",
     [](KernelText &k) { k.replace("(tile\\.load %arg1\\[%arg[0-9]+, )%arg[0-9]+\\]", "$1%c0]"); }},
    {"bias", "llama-all-biases", 3, "prefill", "qkv", "llm.linear",
     [](KernelText &k) { replaceLoads(k, k.rowParameter(0), "0.0"); }},
    {"activation", "llama-deep", 4, "prefill", "gate_up", "llm.activate",
     [](KernelText &k) { k.replace("arith\\.subf (%cst\\w*), (%[0-9]+#)", "arith.addf $1, $2"); }},
    {"rope_sign", "qwen3-layer-types", 3, "decode", "append", "llm.rope",
     [](KernelText &k) {
       k.replace("arith\\.subf (.* : tensor)", "minus $1")
           .replace("arith\\.addf (.* : tensor)", "arith.subf $1");
       k.replace("minus (.* : tensor)", "arith.addf $1");
     }},
    {"norm_weight", "qwen3-layer-types", 3, "decode", "gate_up", "llm.rms_norm",
     [](KernelText &k) { replaceLoads(k, k.rowParameter(0), "1.0"); }},
    {"mean_of_head_norms", "qwen3-layer-types", 3, "verify", "append", "llm.rms_norm",
     [](KernelText &k) { k.replace("constant 1\\.200000e\\+01 : f32", "constant 1.1e+01 : f32"); }},
    {"bf16_stale_page_of_values", "llama-deep", 4, "decode", "attention", "llm.attention",
     [](KernelText &k) { k.replace("(kv_chunk value .*, .*\\[%[0-9]+, )%\\w+(, .*)", "$1%c0$2"); },
     "bf16"},
    {"bf16_stale_page_on_append", "llama-deep", 4, "decode", "append", "llm.kv_append",
     [](KernelText &k) { k.replace("(kv_chunk key .*, .*\\[%[0-9]+, )%\\w+(, .*)", "$1%c0$2"); },
     "bf16"},
    {"bf16_position", "llama-all-biases", 3, "prefill", "append", "llm.rope",
     [](KernelText &k) {
       k.replace("(%[0-9]+) = tile\\.step_read positions (.*)",
                 "%p = tile.step_read positions $2\n$1 = arith.addi %p, %c1 : index");
     },
     "bf16"},
    // Half a unit in the last place of bf16: one element in two is rounded the other way.
    {"bf16_rounding_of_values", "qwen3-layer-types", 3, "verify", "append", "llm.kv_append",
     [](KernelText &k) {
       k.replace("%([0-9]+) = arith\\.truncf (%[0-9]+) : tensor<(.*)xf32> to tensor<.*xbf16>",
                 "%n$1 = arith.constant dense<1.002> : tensor<$3xf32>\n"
                 "%m$1 = arith.mulf $2, %n$1 : tensor<$3xf32>\n"
                 "%$1 = arith.truncf %m$1 : tensor<$3xf32> to tensor<$3xbf16>");
     },
     "bf16"},
    {"int8_codes_one_too_large", "qwen3-layer-types", 3, "verify", "append", "llm.kv_append",
     [](KernelText &k) { k.replace("dense<0x4B400000>", "dense<12582913.0>"); }, "int8"},
    {"int8_scale", "llama-deep", 4, "prefill", "append", "llm.kv_append",
     [](KernelText &k) { k.replace("constant 1\\.270000e\\+02 : f32", "constant 1.275e+02 : f32"); },
     "int8"},
    {"int8_stale_scales_of_keys", "llama-deep", 4, "decode", "attention", "llm.attention",
     [](KernelText &k) { k.replace("(kv_chunk key_scale .*, .*\\[%[0-9]+, )%\\w+(, .*)", "$1%c0$2"); },
     "int8"},
    {"int8_position", "llama-all-biases", 3, "prefill", "append", "llm.rope",
     [](KernelText &k) {
       k.replace("(%[0-9]+) = tile\\.step_read positions (.*)",
                 "%p = tile.step_read positions $2\n$1 = arith.addi %p, %c1 : index");
     },
     "int8"},
};

class PlantedFault : public testing::TestWithParam<Fault> {};

/// An artefact with the fault in it; "" when it could not be planted.
std::string plant(const Fault &fault, const std::string &command) {
  CompileRequest request;
  request.input = test::goldenModel(fault.golden);
  request.pipeline.kv = fault.kv;
  return test::plant(request, fault.graph, command, fault.edit);
}

TEST_P(PlantedFault, isNamedWithCommandOpAndLayer) {
  const Fault &fault = GetParam();
  std::string kind = fault.kind; // seeds the layer: another for each fault, the same in each run
  std::seed_seq seed(kind.begin(), kind.end());
  std::mt19937 random(seed);
  // The residual row of layer 0's attention is the embedding itself.
  int layer = fault.edit ? int(random() % unsigned(fault.layers))
                         : 1 + int(random() % unsigned(fault.layers - 1));
  std::string command = "layers." + std::to_string(layer) + "." + fault.command;
  std::string model = plant(fault, command);
  auto report = compare::compareModels(requestFor(model, fault.golden));
  std::remove(model.c_str());
  ASSERT_TRUE(report) << report.error().str();
  ASSERT_TRUE(report->difference) << "no difference in " << report->commands << " commands";
  const compare::Difference &difference = *report->difference;
  RecordProperty("why", difference.why);
  RecordProperty("error_to_bound", std::to_string(difference.worst.error / difference.worst.bound));
  EXPECT_EQ(difference.command, command);
  EXPECT_EQ(difference.graph, fault.graph);
  EXPECT_EQ(difference.op, fault.op) << difference.why;
  EXPECT_FALSE(difference.worst.error <= difference.worst.bound);
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlantedFault, testing::ValuesIn(kFaults),
                         [](const auto &info) { return std::string(info.param.kind); });

//===--- What prevents a comparison ---===//

TEST(Compare, refusesAnotherModel) {
  CompileRequest request;
  request.input = test::goldenModel("llama-tied");
  std::string model = compiled(request, "other.so");
  compare::CompareRequest other = requestFor(model, "llama-gqa-64");
  auto report = compare::compareModels(other);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().str().find(
                "limits: error: found vocabulary 200 and hidden size 64, expected 101 and 48"),
            std::string::npos)
      << report.error().str();
  std::remove(model.c_str());
}

TEST(Compare, refusesMoreTokensThanTheModelHolds) {
  CompileRequest request;
  request.input = test::goldenModel("llama-tied");
  request.maxSequence = 36;
  std::string model = compiled(request, "short.so");
  auto report = compare::compareModels(requestFor(model, "llama-tied")); // a prompt of 33, and 4
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().str().find("found 33 prompt tokens and 4 new ones, expected at most 36"),
            std::string::npos)
      << report.error().str();
  std::remove(model.c_str());
}

/// The bound that a person gives replaces each op's own: at 0 the first rounding is a difference.
TEST(Compare, takesABoundFromOutside) {
  CompileRequest request;
  request.input = test::goldenModel("llama-tied");
  std::string model = compiled(request, "bound.so");
  compare::CompareRequest strict = requestFor(model, "llama-tied");
  strict.bound = 0;
  auto report = compare::compareModels(strict);
  ASSERT_TRUE(report) << report.error().str();
  ASSERT_TRUE(report->difference);
  EXPECT_EQ(report->difference->command, "layers.0.attn_norm"); // the embedding before it is a copy
  std::remove(model.c_str());
}

} // namespace
} // namespace llmc
