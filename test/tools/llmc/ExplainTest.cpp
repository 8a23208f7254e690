// SPDX-License-Identifier: Apache-2.0
// `llmc explain` on a made-up model whose numbers can be checked by hand, and its options.
#include "tools/llmc/Explain.h"
#include "test/tools/llmc/Program.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace llmc::test {
namespace {

using tool::ExplainedModel;
using tool::ExplainOptions;

cost::RegionTerms region(const char *graph, const char *name, const char *kind) {
  cost::RegionTerms region;
  region.graph = graph, region.name = name, region.kind = kind;
  return region;
}

// Two layers with a linear of bytes and an attention, the second layer's in a window; a head.
ExplainedModel toy() {
  ExplainedModel model;
  model.path = "toy.so";
  model.maxPositions = 2000;
  model.memory = {1000000, 100, 200, 6400};
  for (const char *layer : {"layers.0.", "layers.1."}) {
    cost::RegionTerms linear = region("decode", (std::string(layer) + "q").c_str(), "linear");
    linear.arithmetic = cost::Arithmetic::Int8;
    linear.terms.fixed = {0, 5000, 0, 0};
    linear.terms.perRow = {20000, 0, 40, 0};
    cost::RegionTerms attention =
        region("decode", (std::string(layer) + "attention").c_str(), "attention");
    attention.terms.perKey = {6, 0, 0, 0};
    attention.terms.perContext = {0, 0, 0, 8};
    attention.terms.window = layer[7] == '1' ? 100 : 0;
    model.regions.push_back(linear);
    model.regions.push_back(attention);
  }
  cost::RegionTerms head = region("decode", "lm_head", "linear");
  head.terms.fixed = {0, 300, 0, 0};
  head.terms.perOutput = {400, 0, 4, 0};
  model.regions.push_back(head);
  return model;
}

nlohmann::json explained(ExplainOptions options) {
  options.json = true;
  testing::internal::CaptureStdout();
  const Status status = tool::explain(toy(), options);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(status) << status.error().str();
  return nlohmann::json::parse(text, nullptr, false);
}

ExplainOptions decodeOf(uint32_t batch, uint32_t depth) {
  ExplainOptions options;
  options.phase = "decode";
  options.batch = batch;
  options.depth = depth;
  options.machine = "zen5-1"; // 34 GB/s, f32 222 GFLOP/s, int8 889
  return options;
}

TEST(Explain, SumsLayersThatCostTheSame) {
  const nlohmann::json phase = explained(decodeOf(3, 999))["phases"][0];
  ASSERT_EQ(phase["ops"].size(), 4u) << "the attentions differ by their windows";
  const nlohmann::json &linear = phase["ops"][0];
  EXPECT_EQ(linear["name"], "layers.*.q");
  EXPECT_EQ(linear["count"], 2);
  EXPECT_EQ(linear["flops"], 2 * 3 * 20000);
  EXPECT_EQ(linear["weight_bytes"], 2 * 5000);
  EXPECT_EQ(linear["activation_bytes"], 2 * 3 * 40);
  EXPECT_DOUBLE_EQ(linear["intensity"], 120000.0 / 10240);
  EXPECT_EQ(phase["ops"][1]["kv_bytes"], 3 * 1000 * 8);
  EXPECT_EQ(phase["ops"][2]["kv_bytes"], 3 * 100 * 8) << "no more than the window";
  EXPECT_EQ(phase["total"]["flops"], 120000 + 3 * 1000 * 6 + 3 * 100 * 6 + 3 * 400);
}

TEST(Explain, SaysWhatBinds) {
  const nlohmann::json one = explained(decodeOf(1, 0))["phases"][0];
  EXPECT_EQ(one["ops"][0]["bound"], "memory"); // 4 FLOPs a byte, ridge 889/34 = 26
  EXPECT_DOUBLE_EQ(one["ops"][0]["seconds"], 2 * 5040 / 34e9);
  const nlohmann::json many = explained(decodeOf(16, 0))["phases"][0];
  EXPECT_EQ(many["ops"][0]["bound"], "arithmetic"); // 57 a byte
  EXPECT_DOUBLE_EQ(many["ops"][0]["seconds"], 2 * 16 * 20000 / 889e9);
  double sum = 0;
  for (const nlohmann::json &op : many["ops"])
    sum += op["seconds"].get<double>();
  EXPECT_DOUBLE_EQ(many["total"]["seconds"], sum);
}

TEST(Explain, MemoryIsWeightsChunksAndRows) {
  const nlohmann::json memory = explained(decodeOf(3, 128))["phases"][0]["memory"];
  EXPECT_EQ(memory["kv_chunks"], 3 * 3); // 129 tokens each
  EXPECT_EQ(memory["kv_bytes"], 9 * 6400);
  EXPECT_EQ(memory["activation_bytes"], 3 * 100 + 3 * 200);
  EXPECT_EQ(memory["total_bytes"], 1000000 + 9 * 6400 + 900);
}

TEST(Explain, StepsOfThePhases) {
  ExplainOptions options;
  options.batch = 2;
  auto step = [&](const char *phase) { return *tool::stepOf(options, phase, 600); };
  EXPECT_EQ(step("prefill").rows, 512);
  EXPECT_EQ(step("prefill").context, 256);
  EXPECT_EQ(step("decode").context, 600) << "the default depth where the model is long enough";
  EXPECT_EQ(step("verify").rows, 8);
  EXPECT_EQ(step("verify").outputs, 8);
  options.depth = 300;
  EXPECT_EQ(step("prefill").context, 556);
  EXPECT_EQ(step("verify").context, 304);
  options.depth = 597;
  const Result<llm::StepShape> tooDeep = tool::stepOf(options, "verify", 600);
  ASSERT_FALSE(tooDeep);
  EXPECT_EQ(tooDeep.error().str(),
            "--depth: error: found 597 tokens and 4 new in verify, expected at most 600 in "
            "all; --max-seq sets the limit");
}

TEST(Explain, TablesForPeople) {
  testing::internal::CaptureStdout();
  ExplainOptions options = decodeOf(3, 999);
  options.perLayer = true;
  ASSERT_TRUE(tool::explain(toy(), options));
  const std::string text = testing::internal::GetCapturedStdout();
  for (const char *line :
       {"model    toy.so\n",
        "machine  zen5-1: ", "decode: 3 sequences, 1 new token each after 999\n", "layers.0.q ",
        "60 k", "11.72", "total ", "at most ", "memory, exact: weights 976.6 KiB (1000000 bytes)"})
    EXPECT_TRUE(contains(text, line)) << line << "\n" << text;
}

TEST(Explain, TheTableSurvivesTheManifest) {
  const std::string manifest = "{\"cost\": " + tool::termsToJson(toy().regions) + "}";
  const auto read = tool::termsFromJson(manifest, "toy.so");
  ASSERT_TRUE(read);
  const auto regions = toy().regions;
  ASSERT_EQ(read->size(), regions.size());
  for (size_t i = 0; i < regions.size(); ++i) {
    EXPECT_EQ((*read)[i].name, regions[i].name);
    EXPECT_EQ((*read)[i].arithmetic, regions[i].arithmetic);
    EXPECT_TRUE(cost::operator==((*read)[i].terms, regions[i].terms));
  }
}

TEST(Explain, ATableThatIsNoneIsRefused) {
  for (
      const char *cost :
      {"[1]", "[{}]", R"([{"graph": "decode", "name": "q", "kind": "linear"}])",
       R"([{"graph": 1, "name": "q", "kind": "linear", "arithmetic": "f32", "terms": {}}])",
       R"([{"graph": "d", "name": "q", "kind": "l", "arithmetic": "f64", "terms": {}}])",
       R"([{"graph": "d", "name": "q", "kind": "l", "arithmetic": "f32", "terms": {"row": [1]}}])",
       R"([{"graph": "d", "name": "q", "kind": "l", "arithmetic": "f32", "terms": {"row": [1, 2, 3, 1e99]}}])",
       R"([{"graph": "d", "name": "q", "kind": "l", "arithmetic": "f32", "terms": {"window": -3}}])"}) {
    const auto read = tool::termsFromJson("{\"cost\": " + std::string(cost) + "}", "toy.so");
    ASSERT_FALSE(read) << cost;
    EXPECT_EQ(read.error().str().rfind("toy.so: manifest: cost: 0: error: found no row", 0), 0u)
        << read.error().str();
  }
  for (const char *manifest : {"", "[]", "{}", "{\"cost\": 3}"})
    EXPECT_FALSE(tool::termsFromJson(manifest, "toy.so"));
}

TEST(Explain, OptionsThatCannotBe) {
  Outcome outcome = llmc({"explain", "model.so", "--phase", "dream"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.error, "--phase")) << outcome.error;
  outcome = llmc({"explain", "model.so", "--batch", "0"});
  EXPECT_EQ(outcome.code, 2);
  outcome = llmc({"explain"});
  EXPECT_EQ(outcome.code, 2);
  outcome = llmc({"explain", "nothing-there.so"});
  EXPECT_EQ(outcome.code, 1);
  ExplainOptions options;
  options.machine = "abacus";
  const Status status = tool::explain(toy(), options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().str(),
            "--machine: error: found 'abacus', expected one of zen4-1, zen4-2, "
            "zen5-1, zen5-2, a100, h200");
}

// Compiled by hand, the demo has no cost table.
TEST(Explain, AnArtefactWithoutATable) {
  const Outcome outcome = llmc({"explain", demoPath()});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "manifest: cost: error: found no table")) << outcome.error;
}

} // namespace
} // namespace llmc::test
