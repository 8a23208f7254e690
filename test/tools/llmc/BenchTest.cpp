// SPDX-License-Identifier: Apache-2.0
// `llmc bench` on the demo model: what it reports, never how long anything took. And the arithmetic
// of its tables.
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include "tools/llmc/bench/CommandTimes.h"
#include "tools/llmc/bench/Statistics.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

TEST(Bench, SummaryHasLatenciesAndThroughput) {
  const Outcome outcome = llmc({"bench", demoPath(), "--repeat", "2", "--gen", "4"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  for (const char *field : {"time to first token", "p50", "p99", "throughput", "end to end"})
    EXPECT_TRUE(contains(outcome.out, field)) << outcome.out;
}

TEST(Bench, JsonHasAllRunsAndCommands) {
  TemporaryFolder folder;
  const Outcome outcome = llmc({"bench", demoPath(), "--repeat", "3", "--gen", "5", "--batch", "2",
                                "--threads", "2", "--per-op", "--json", folder.file("b.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  const Json json = Json::parse(readFile(folder.file("b.json")), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["model"]["name"], "demo");
  EXPECT_EQ(json["options"]["batch"], 2);
  for (const char *key : {"ttft_s", "inter_token_p50_s", "inter_token_p99_s", "end_to_end_s",
                          "prompt_tokens_per_s", "new_tokens_per_s"})
    EXPECT_GT(json[key].get<double>(), 0) << key;
  ASSERT_EQ(json["runs"].size(), 3u);
  EXPECT_EQ(json["runs"][0]["inter_token_s"].size(), 4u);
  EXPECT_EQ(json["per_op"].size(), 16u); // 8 of prefill, 8 of decode
}

TEST(Bench, PerOpCountsEveryCommandOnceAndByKindSumsLayers) {
  const Outcome each = llmc({"bench", demoPath(), "--repeat", "1", "--per-op"});
  EXPECT_TRUE(contains(each.out, "layers.0.qkv") && contains(each.out, "layers.1.qkv")) << each.out;
  const Outcome kinds = llmc({"bench", demoPath(), "--repeat", "1", "--by-kind"});
  EXPECT_TRUE(contains(kinds.out, "layers.*.qkv")) << kinds.out;
  EXPECT_FALSE(contains(kinds.out, "layers.0")) << kinds.out;
}

TEST(Bench, TraceHasEveryCommandOfOneStepEach) {
  TemporaryFolder folder;
  const Outcome outcome =
      llmc({"bench", demoPath(), "--repeat", "1", "--trace", folder.file("t.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  const Json json = Json::parse(readFile(folder.file("t.json")), nullptr, false);
  std::vector<std::string> steps;
  int commands = 0;
  for (const Json &event : json["traceEvents"])
    if (event["ph"] == "X") {
      ++commands;
      EXPECT_GE(event["dur"].get<double>(), 0);
    } else {
      steps.push_back(event["args"]["name"]);
    }
  EXPECT_EQ(commands, 16);
  EXPECT_EQ(steps, (std::vector<std::string>{"prefill", "decode"}));
}

TEST(Bench, OneNewTokenHasNoTimeBetweenTokens) {
  TemporaryFolder folder;
  const Outcome outcome =
      llmc({"bench", demoPath(), "--gen", "1", "--json", folder.file("b.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_FALSE(contains(outcome.out, "p50"));
  EXPECT_TRUE(Json::parse(readFile(folder.file("b.json")))["inter_token_p50_s"].is_null());
}

TEST(Bench, PromptLongerThanAStep) {
  const Outcome outcome = llmc({"bench", demoPath(), "--prompt-len", "600", "--repeat", "1",
                                "--gen", "2", "--batch", "2", "--per-op"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
}

TEST(Bench, SizesBeyondTheModelAreErrors) {
  const Outcome batch = llmc({"bench", demoPath(), "--batch", "9"});
  EXPECT_EQ(batch.code, 1);
  EXPECT_TRUE(contains(batch.error, "--batch: error: found 9, expected 1 to 8")) << batch.error;
  const Outcome length = llmc({"bench", demoPath(), "--prompt-len", "990", "--gen", "11"});
  EXPECT_EQ(length.code, 1);
  EXPECT_TRUE(contains(length.error, "expected at most 1000")) << length.error;
}

TEST(BenchTables, CostsAreMediansWorstFirstWithSharesOfTheSum) {
  const auto step = [](uint64_t first, uint64_t second, uint64_t third) {
    return tool::TimedStep{"decode",
                           {{"layers.0.q", "linear", 1000, 1000 + first},
                            {"layers.1.q", "linear", 5000, 5000 + second},
                            {"head", "dot", 9000, 9000 + third}}};
  };
  const std::vector<tool::TimedStep> steps = {step(1000, 2000, 900000), step(1500, 3000, 5500),
                                              step(1500, 2500, 6000)};
  const std::vector<tool::CommandCost> each = tool::commandCosts(steps, false);
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[0].name, "head");
  EXPECT_DOUBLE_EQ(each[0].microseconds, 6);
  EXPECT_DOUBLE_EQ(each[0].share, 0.6);
  EXPECT_EQ(each[1].name, "layers.1.q");
  const std::vector<tool::CommandCost> kinds = tool::commandCosts(steps, true);
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[1].name, "layers.*.q");
  EXPECT_EQ(kinds[1].count, 2u);
  EXPECT_DOUBLE_EQ(kinds[1].microseconds, 4);
}

TEST(BenchTables, Percentiles) {
  EXPECT_EQ(tool::median({}), 0);
  EXPECT_EQ(tool::median({3, 1, 2}), 2);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i)
    hundred.push_back(i);
  EXPECT_EQ(tool::percentile(hundred, 0.99), 99);
  EXPECT_EQ(tool::percentile(hundred, 0.5), 50);
  EXPECT_EQ(tool::percentile({7}, 0.99), 7);
}

} // namespace
} // namespace llmc::test
