// SPDX-License-Identifier: Apache-2.0
// `llmc bench` on the demo model: what it reports and refuses, never how long anything took.
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include "tools/llmc/bench/BenchOptions.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

Json benchJson(std::vector<std::string> arguments) {
  TemporaryFolder folder;
  arguments.insert(arguments.begin(), {"bench", demoPath(), "--repeat", "2"});
  arguments.insert(arguments.end(), {"--json", folder.file("b.json")});
  const Outcome outcome = llmc(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  return Json::parse(readFile(folder.file("b.json")), nullptr, false);
}

TEST(Bench, TablesHaveARowForEachCombinationAndTheCeilings) {
  const Outcome outcome = llmc({"bench", demoPath(), "--repeat", "1", "--threads", "1",
                                "--prompt-len", "5,40", "--gen", "3", "--depth", "0,70"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  for (const char *part : {"\nprefill\n", "\ndecode\n", "ceilings of 1 thread: read ",
                           "mapped file", "no shares: the model has no cost table"})
    EXPECT_TRUE(contains(outcome.out, part)) << outcome.out;
}

TEST(Bench, JsonHasEveryCombination) {
  const Json json = benchJson({"--prompt-len", "3,300", "--gen", "4", "--depth", "0,200", "--batch",
                               "1,2", "--threads", "1"});
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["schema"], 2);
  EXPECT_EQ(json["model"]["name"], "demo");
  EXPECT_EQ(json["model"]["weights_memory"], "mapped file");
  EXPECT_EQ(json["options"]["depth"], Json({0, 200}));
  ASSERT_EQ(json["prefill"].size(), 2u);
  EXPECT_EQ(json["prefill"][1]["prompt_len"], 300);
  ASSERT_EQ(json["decode"].size(), 4u);
  EXPECT_EQ(json["decode"][3]["depth"], 200);
  EXPECT_EQ(json["decode"][3]["batch"], 2);
  for (const char *phase : {"prefill", "decode"})
    for (const Json &row : json[phase]) {
      EXPECT_EQ(row["threads"], 1);
      EXPECT_GT(row["tokens_per_s"]["median"].get<double>(), 0);
      EXPECT_LE(row["tokens_per_s"]["min"], row["tokens_per_s"]["q1"]);
      EXPECT_GE(row["kept"].get<int>() + row["discarded"].get<int>(), 2);
      EXPECT_FALSE(row["runs_tokens_per_s"].empty());
      EXPECT_GT(row["ceilings"]["read_bytes_per_s"].get<double>(), 0);
      EXPECT_GT(row["ceilings"]["int8_operations_per_s"].get<double>(), 0);
      EXPECT_GT(row["commands"].get<int>(), 0);
      EXPECT_TRUE(row["share_of_read"].is_null()) << "the demo has no cost table";
      EXPECT_FALSE(row.contains("per_op"));
    }
}

TEST(Bench, CopiedWeightsAreReadFromMemory) {
  const Json json = benchJson({"--weights", "copy", "--gen", "2", "--threads", "1"});
  EXPECT_EQ(json["model"]["weights_memory"], "anonymous memory");
  EXPECT_EQ(llmc({"bench", demoPath(), "--weights", "guess"}).code, 2);
}

TEST(Bench, ZeroStandsForNoRows) {
  const Json decode = benchJson({"--prompt-len", "0", "--gen", "2", "--threads", "1"});
  EXPECT_TRUE(decode["prefill"].empty());
  EXPECT_EQ(decode["decode"].size(), 1u);
  const Json prefill = benchJson({"--prompt-len", "9", "--gen", "0", "--threads", "1"});
  EXPECT_EQ(prefill["prefill"].size(), 1u);
  EXPECT_TRUE(prefill["decode"].empty());
}

TEST(Bench, PerOpHasEveryCommandAndByKindSumsLayers) {
  const std::vector<std::string> sizes = {"--prompt-len", "300", "--gen", "2", "--threads", "1"};
  std::vector<std::string> each = sizes, kinds = sizes;
  each.push_back("--per-op");
  kinds.push_back("--by-kind");
  const Json rows = benchJson(each)["prefill"][0]["per_op"];
  EXPECT_EQ(rows.size(), 8u); // 7 of the first step, 8 of the second, which has the head
  for (const Json &row : rows)
    EXPECT_EQ(row["count"], row["name"] == "head" ? 1 : 2) << row;
  const Json summed = benchJson(kinds)["decode"][0]["per_op"];
  EXPECT_EQ(summed.size(), 5u);
  for (const Json &row : summed)
    EXPECT_EQ(row["name"].get<std::string>().find("layers.0"), std::string::npos);
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

TEST(Bench, SizesBeyondTheModelOrTheMachineAreErrors) {
  const std::string cores = std::to_string(tool::processors());
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--batch", "1,9"}, "--batch: error: found 9, expected 1 to 8; compile with a larger"},
      {{"--prompt-len", "1001"}, "--prompt-len: error: found 1001, expected at most 1000 tokens"},
      {{"--depth", "0,990", "--gen", "11"},
       "--depth: error: found 990 tokens and 11 new ones, expected at most 1000 in all"},
      {{"--gen", "1001"}, "--gen: error: found 0 tokens and 1001 new ones"},
      {{"--threads", "1,1000"},
       "--threads: error: found 1000, expected 1 to " + cores + ", the processors that"},
  };
  for (const auto &[arguments, expected] : cases) {
    std::vector<std::string> all = {"bench", demoPath()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = llmc(all);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Bench, ListsThatAreNoneAreWrongUsage) {
  for (const char *list : {"", "1,", ",1", "1;2", "1,x", "-1", "1.5", "99999999999"}) {
    const Outcome outcome = llmc({"bench", demoPath(), "--depth", list});
    EXPECT_EQ(outcome.code, 2) << list;
    EXPECT_TRUE(contains(outcome.error, "--depth: found ")) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, "as in 1,2,4")) << outcome.error;
  }
  EXPECT_EQ(llmc({"bench", demoPath(), "--batch", "0"}).code, 2);
}

TEST(Bench, AFolderThatIsMissingIsToldBeforeTheWork) {
  const Outcome outcome = llmc({"bench", demoPath(), "--json", "/nonexistent/b.json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "/nonexistent/b.json: error: ")) << outcome.error;
  EXPECT_EQ(outcome.out, "");
}

TEST(Bench, AProcessorThatLacksInstructionsIsNamed) {
  const Outcome outcome = llmc({"bench", demoPath("demo_weak_cpu")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.error, "error: found a processor without ")) << outcome.error;
}

} // namespace
} // namespace llmc::test
