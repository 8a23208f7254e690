// SPDX-License-Identifier: Apache-2.0
// What `llmc bench` does instead of rows: comparing two files, a busy neighbour that is always
// stopped, and launches up to the first token.
#include "test/frontends/Support.h"
#include "test/tools/llmc/Program.h"
#include "tools/llmc/bench/BenchCompare.h"
#include "tools/llmc/bench/FirstToken.h"
#include "tools/llmc/bench/Neighbour.h"
#include <csignal>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace llmc::test {
namespace {

Json rowOf(const char *key, int size, double median) {
  return {{key, size},
          {"threads", 1},
          {"tokens_per_s",
           {{"median", median},
            {"q1", median - 1},
            {"q3", median + 1},
            {"min", median - 2},
            {"max", median + 2}}}};
}

Json benchFile(double prefill, double decode) {
  return {{"schema", 2},
          {"prefill", {rowOf("prompt_len", 128, prefill)}},
          {"decode", {rowOf("depth", 0, decode)}}};
}

TEST(BenchCompare, RatiosAndWhatIsOutsideTheSpread) {
  TemporaryFolder folder;
  Json more = benchFile(50, 21);
  more["decode"].push_back(rowOf("depth", 1024, 7));
  folder.write("a.json", benchFile(100, 20).dump());
  folder.write("b.json", more.dump());
  const Outcome outcome =
      llmc({"bench", "--compare", folder.file("a.json"), folder.file("b.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "prefill, prompt_len 128, threads 1")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "0.500  slower")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "1.050\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "decode, depth 1024, threads 1")) << "only in B";
}

TEST(BenchCompare, VerdictNeedsQuartilesApart) {
  const tool::Spread slow = {10, 9, 11, 1, 99}, near = {11, 10.5, 12, 1, 99},
                     fast = {20, 12, 21, 1, 99};
  EXPECT_STREQ(tool::verdict(slow, near), "");
  EXPECT_STREQ(tool::verdict(slow, fast), "faster");
  EXPECT_STREQ(tool::verdict(fast, slow), "slower");
}

TEST(BenchCompare, OtherFilesAreErrors) {
  TemporaryFolder folder;
  folder.write("good.json", benchFile(1, 1).dump());
  Json old = benchFile(1, 1), damaged = benchFile(1, 1);
  old["schema"] = 1;
  damaged["decode"][0]["tokens_per_s"]["q1"] = "fast";
  folder.write("old.json", old.dump());
  folder.write("damaged.json", damaged.dump());
  folder.write("text.json", "hello");
  Json noRows = benchFile(1, 1);
  noRows["prefill"] = noRows["decode"] = Json::array();
  folder.write("start.json", noRows.dump());
  EXPECT_TRUE(contains(llmc({"bench", "--compare", folder.file("start.json"), folder.file("start.json")}).error,
                       "start.json: error: found no row of a prefill or a decode"));
  const std::vector<std::pair<const char *, const char *>> cases = {
      {"none.json", "none.json: error: cannot be read"},
      {"text.json", "text.json: error: found no JSON with a schema"},
      {"old.json", "old.json: schema: error: found 1, expected 2; measure again"},
      {"damaged.json", "after prefill, prompt_len 128, threads 1: error: found no row"},
  };
  for (const auto &[name, expected] : cases) {
    const Outcome outcome =
        llmc({"bench", "--compare", folder.file("good.json"), folder.file(name)});
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
  }
}

TEST(BenchModes, WhatCannotGoTogetherIsWrongUsage) {
  const std::vector<std::pair<std::vector<std::string>, const char *>> cases = {
      {{}, "found no model, expected one, or --compare"},
      {{demoPath(), "--compare", "a", "b"}, "found a model with --compare"},
      {{demoPath(), "--nice", "3"}, "found --nice alone"},
      {{demoPath(), "--start", "--busy-neighbour"}, "found several of"},
      {{demoPath(), "--start", "--per-op"}, "without rows"},
      {{"--compare", "a", "b", "--json", "c"}, "found --json with --compare"},
      {{demoPath(), "--busy-neighbour", "--gen", "0"}, "found --gen 0"},
      {{demoPath(), "--start", "--depth", "7"}, "or --batch with --start, expected none"},
      {{demoPath(), "--gen", "0", "--prompt-len", "0,0"}, "expected something to measure"},
  };
  for (const auto &[arguments, expected] : cases) {
    std::vector<std::string> all = {"bench"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = llmc(all);
    EXPECT_EQ(outcome.code, 2) << expected;
    EXPECT_TRUE(contains(outcome.error, expected)) << outcome.error;
  }
}

TEST(BenchModes, BusyNeighbourHasFourSpeedsAndARatio) {
  TemporaryFolder folder;
  const Outcome outcome =
      llmc({"bench", demoPath(), "--busy-neighbour", "--nice", "5", "--repeat", "2", "--gen", "4",
            "--depth", "3", "--json", folder.file("n.json")});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "of one thread's speed when quiet")) << outcome.out;
  const Json part = Json::parse(readFile(folder.file("n.json")))["busy_neighbour"];
  EXPECT_EQ(part["nice"], 5);
  EXPECT_EQ(part["depth"], 3);
  for (const char *key : {"quiet_1_thread_tokens_per_s", "quiet_tokens_per_s",
                          "busy_1_thread_tokens_per_s", "busy_tokens_per_s", "of_quiet_1_thread"})
    EXPECT_GT(part[key]["median"].get<double>(), 0) << key;
}

// The only child that this process has besides those that it waits for itself.
pid_t onlyChild() {
  std::istringstream children(
      readFile("/proc/self/task/" + std::to_string(getpid()) + "/children"));
  pid_t child = 0;
  children >> child;
  return child;
}

TEST(Neighbour, IsOnItsProcessorNicedAndGoneAfterwards) {
  const int processor = tool::allowedProcessors().back();
  pid_t child = 0;
  {
    Result<std::unique_ptr<tool::Neighbour>> neighbour = tool::Neighbour::start(processor, 7);
    ASSERT_TRUE(neighbour) << neighbour.error().str();
    child = onlyChild();
    if (!child)
      GTEST_SKIP() << "this kernel does not tell children";
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(child, sizeof allowed, &allowed), 0);
    EXPECT_EQ(CPU_COUNT(&allowed), 1);
    EXPECT_TRUE(CPU_ISSET(processor, &allowed));
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(child)), 7);
  }
  EXPECT_EQ(kill(child, 0), -1) << "it is still there";
}

TEST(Neighbour, GoesWithAProcessThatIsKilled) {
  prctl(PR_SET_CHILD_SUBREAPER, 1); // so that the orphan comes to us
  const pid_t victim = fork();
  if (!victim) {
    auto neighbour = tool::Neighbour::start(tool::allowedProcessors()[0], 19);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  EXPECT_EQ(waitpid(victim, &status, 0), victim);
  EXPECT_TRUE(WIFSIGNALED(status));
  pid_t orphan = 0;
  for (int i = 0; i < 2000 && !orphan; ++i) { // 20 s, which a busy machine may need
    orphan = waitpid(-1, &status, WNOHANG);
    usleep(10000);
  }
  EXPECT_GT(orphan, 0) << "it still spins";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  if (const pid_t left = orphan ? 0 : onlyChild())
    kill(left, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(BenchStart, HasTimesOfEachPartAndMemory) {
  for (const std::vector<std::string> &model : {std::vector<std::string>{demoPath()},
                                                {demoPath("demo_text")},
                                                {demoPath("demo_named"), "--name", "small"}}) {
    TemporaryFolder folder;
    std::vector<std::string> arguments = {
        "bench", "--start", "--repeat", "2", "--threads", "1", "--json", folder.file("s.json")};
    arguments.insert(arguments.end(), model.begin(), model.end());
    const Outcome outcome = llmc(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_TRUE(contains(outcome.out, "launch to first token")) << outcome.out;
    const Json part = Json::parse(readFile(folder.file("s.json")))["start"][0];
    EXPECT_EQ(part["launches"], 2);
    for (const char *key :
         {"process_s", "open_s", "session_s", "step_s", "first_token_s", "peak_bytes",
          "model_file_bytes", "beyond_file_bytes", "anonymous_bytes"})
      EXPECT_GT(part[key]["median"].get<double>(), 0) << key;
    EXPECT_GE(part["peak_bytes"]["median"], part["beyond_file_bytes"]["median"]);
  }
}

TEST(BenchStart, WhatIsWrongWithTheModelIsSaidOnce) {
  const Outcome outcome = llmc({"bench", "none.so", "--start"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
}

TEST(BenchStart, LinesBetweenTheTwoSides) {
  const tool::FirstToken sent = {1, 2, 3, 4, 5, 6, uint64_t(1) << 60};
  tool::FirstToken got;
  ASSERT_TRUE(tool::fromLine(tool::toLine(sent), got));
  EXPECT_EQ(got.anonymous, sent.anonymous);
  EXPECT_EQ(got.token, 4u);
  EXPECT_FALSE(tool::fromLine("first-token 1 2", got));
  EXPECT_FALSE(tool::fromLine("", got));
}

} // namespace
} // namespace llmc::test
