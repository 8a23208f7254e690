// SPDX-License-Identifier: Apache-2.0
// The executor through the pointers of the root table, without the engine: what it refuses, ranges
// of commands, late helpers, cancelling, times.
#include "llmc/abi.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

extern "C" const llmc_artifact *demo_llmc_query(uint32_t);
extern "C" const llmc_artifact *demo_delay_llmc_query(uint32_t);

namespace llmc::test {
namespace {

constexpr uint32_t kRows = 100;
constexpr uint32_t kPages = 3; // of one chunk

struct Freed {
  void operator()(void *memory) const { free(memory); }
};
using Block = std::unique_ptr<void, Freed>;

Block newBlock(uint64_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  memset(memory, 0xff, bytes);
  return Block(memory);
}

// A step of 100 rows of one sequence in pages 2 and 0, with two outputs, and memory of its own.
class Step {
public:
  explicit Step(llmc_query_fn query = demo_llmc_query) : artifact(*query(LLMC_ABI_VERSION)) {
    rows = newBlock(artifact.rows_arena_bytes * kRows);
    outputs = newBlock(artifact.outputs_arena_bytes * 2);
    kv = newBlock(artifact.chunk_bytes * kPages);
    workspace = newBlock(artifact.run_bytes(&artifact, 2));
    memory = {sizeof memory, kRows, 2, kPages, rows.get(), outputs.get(), kv.get(), nullptr};
    for (uint32_t i = 0; i < kRows; ++i) {
      tokens.push_back(static_cast<int32_t>(i * 7 % 40));
      positions.push_back(static_cast<int32_t>(i));
    }
    slots = positions;
    sequences.assign(kRows, 0);
    step = {sizeof step,
            LLMC_MASK_CAUSAL,
            kRows,
            1,
            2,
            1,
            0,
            0,
            tokens.data(),
            nullptr,
            positions.data(),
            slots.data(),
            sequences.data(),
            outputRows,
            sequenceRow,
            sequenceBase,
            sequencePage,
            pages};
  }
  llmc_run *run() { return static_cast<llmc_run *>(workspace.get()); }
  uint32_t begin() { return artifact.run_begin(&artifact, &memory, &step, &options, run()); }
  uint32_t work() { return artifact.run_work(run()); }
  std::vector<uint32_t> logits() const {
    std::vector<uint32_t> bits(80);
    memcpy(bits.data(), outputs.get(), sizeof(float) * 80);
    return bits;
  }

  const llmc_artifact &artifact;
  Block rows, outputs, kv, workspace;
  std::vector<int32_t> tokens, positions, slots, sequences;
  int32_t outputRows[2] = {5, 99};
  int32_t sequenceRow[2] = {0, 2};
  int32_t sequenceBase[1] = {0};
  int32_t sequencePage[1] = {0};
  uint32_t pages[2] = {2, 0};
  llmc_memory memory;
  llmc_step step;
  llmc_run_options options = {sizeof options, 0, 0, 0, UINT32_MAX, 0, nullptr, nullptr, nullptr};
};

std::vector<uint32_t> expectedLogits() {
  Step step;
  EXPECT_EQ(step.begin(), LLMC_RUN_OK);
  EXPECT_EQ(step.work(), LLMC_RUN_OK);
  return step.logits();
}

TEST(Executor, RunBytesOfNoGraphIsZero) {
  const llmc_artifact &demo = *demo_llmc_query(LLMC_ABI_VERSION);
  EXPECT_GT(demo.run_bytes(&demo, 2), 256u);
  EXPECT_EQ(demo.run_bytes(&demo, 3), 0u);
}

TEST(Executor, RefusesEveryIndexOutsideItsTable) {
  const auto refuse = [](const char *what, const std::function<void(Step &)> &change) {
    Step step;
    change(step);
    EXPECT_EQ(step.begin(), LLMC_RUN_BAD_ARGUMENT) << what;
  };
  refuse("graph", [](Step &s) { s.options.graph = 3; });
  refuse("level", [](Step &s) { s.options.level = 2; });
  refuse("first command", [](Step &s) { s.options.first_command = 9; });
  refuse("end command", [](Step &s) { s.options.end_command = 9; });
  refuse("order of commands",
         [](Step &s) { s.options.first_command = 3, s.options.end_command = 2; });
  refuse("options size", [](Step &s) { s.options.struct_size = 8; });
  refuse("step size", [](Step &s) { s.step.struct_size = 8; });
  refuse("memory size", [](Step &s) { s.memory.struct_size = 8; });
  refuse("no rows", [](Step &s) { s.step.n_rows = 0; });
  refuse("rows", [](Step &s) { s.memory.max_rows = 99; });
  refuse("outputs", [](Step &s) { s.memory.max_outputs = 1; });
  refuse("no sequences", [](Step &s) { s.step.n_sequences = 0; });
  refuse("sequences", [](Step &s) { s.step.n_sequences = 9; });
  refuse("mask", [](Step &s) { s.step.mask_kind = 1; });
  refuse("adapter", [](Step &s) { s.step.adapter = 1; });
  refuse("page chunks", [](Step &s) { s.step.page_chunks = 0; });
  refuse("token", [](Step &s) { s.tokens[98] = 40; });
  refuse("negative token", [](Step &s) { s.tokens[0] = -1; });
  refuse("position", [](Step &s) { s.positions[7] = 1000; });
  refuse("slot", [](Step &s) { s.slots[7] = -1; });
  refuse("row's sequence", [](Step &s) { s.sequences[7] = 1; });
  refuse("page", [](Step &s) { s.pages[1] = kPages; });
  refuse("output row", [](Step &s) { s.outputRows[1] = 100; });
  refuse("output order", [](Step &s) { s.outputRows[0] = 99; });
  refuse("first output", [](Step &s) { s.sequenceRow[0] = 1; });
  refuse("last output", [](Step &s) { s.sequenceRow[1] = 1; });
  refuse("base", [](Step &s) { s.sequenceBase[0] = 3; });
  refuse("no tokens", [](Step &s) { s.step.tokens = nullptr; });
  refuse("no pages", [](Step &s) { s.step.pages = nullptr; });
  refuse("no arena", [](Step &s) { s.memory.rows_arena = nullptr; });
  refuse("no KV", [](Step &s) { s.memory.kv = nullptr; });
}

TEST(Executor, RangesOfCommandsAddUpToTheRun) {
  const std::vector<uint32_t> expected = expectedLogits();
  Step step;
  for (uint32_t cut : {2u, 3u, 7u, 8u}) {
    step.options.end_command = cut;
    ASSERT_EQ(step.begin(), LLMC_RUN_OK);
    ASSERT_EQ(step.work(), LLMC_RUN_OK);
    step.options.first_command = cut;
  }
  EXPECT_EQ(step.logits(), expected);
}

TEST(Executor, StepWithoutOutputsRuns) {
  Step step;
  step.step.n_outputs = 0;
  step.sequenceRow[1] = 0;
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  EXPECT_EQ(step.work(), LLMC_RUN_OK);
  EXPECT_EQ(step.logits()[0], 0xffffffffu);
}

TEST(Executor, HelpersMayComeAtAnyTime) {
  const std::vector<uint32_t> expected = expectedLogits();
  for (uint32_t repeat = 0; repeat < 50; ++repeat) {
    Step step(demo_delay_llmc_query);
    ASSERT_EQ(step.begin(), LLMC_RUN_OK);
    std::vector<std::thread> helpers;
    std::atomic<int> fine{0};
    for (uint32_t i = 0; i < repeat % 4; ++i)
      helpers.emplace_back([&, i] {
        std::this_thread::sleep_for(std::chrono::microseconds(i * repeat * 17 % 900));
        fine += step.work() == LLMC_RUN_OK;
      });
    ASSERT_EQ(step.work(), LLMC_RUN_OK);
    ASSERT_EQ(step.logits(), expected);
    for (std::thread &helper : helpers)
      helper.join();
    EXPECT_EQ(fine, static_cast<int>(repeat % 4));
  }
}

TEST(Executor, CancelledRunEndsAndTheWorkspaceCanBeUsedAgain) {
  Step step(demo_delay_llmc_query);
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  std::thread helper([&] { step.work(); });
  step.artifact.run_cancel(step.run());
  const uint32_t status = step.work();
  helper.join();
  EXPECT_TRUE(status == LLMC_RUN_CANCELLED || status == LLMC_RUN_OK);
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  step.artifact.run_cancel(step.run());
  EXPECT_EQ(step.work(), LLMC_RUN_CANCELLED);
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  EXPECT_EQ(step.work(), LLMC_RUN_OK);
  EXPECT_EQ(step.logits(), expectedLogits());
}

TEST(Executor, AThreadThatIsAloneGivesTheSameBits) {
  const std::vector<uint32_t> expected = expectedLogits();
  Step step;
  step.options.threads = 1;
  for (uint32_t cut : {3u, 8u}) {
    step.options.end_command = cut;
    ASSERT_EQ(step.begin(), LLMC_RUN_OK);
    ASSERT_EQ(step.work(), LLMC_RUN_OK);
    step.options.first_command = cut;
  }
  EXPECT_EQ(step.logits(), expected);
}

// As many as were expected, fewer or more.
TEST(Executor, ChunksAreDealtOutToAnyNumberOfThreads) {
  const std::vector<uint32_t> expected = expectedLogits();
  for (uint32_t expecting : {0u, 2u, 3u, 16u, 40u})
    for (size_t coming : {1u, 2u, 5u}) {
      Step step;
      step.options.threads = expecting;
      ASSERT_EQ(step.begin(), LLMC_RUN_OK);
      std::vector<std::thread> helpers;
      while (helpers.size() + 1 < coming)
        helpers.emplace_back([&] { step.artifact.run_help(step.run()); });
      EXPECT_EQ(step.work(), LLMC_RUN_OK);
      for (std::thread &helper : helpers)
        helper.join();
      EXPECT_EQ(step.logits(), expected) << expecting << " expected, " << coming << " came";
    }
}

TEST(Executor, AThreadThatIsAloneCanBeCancelled) {
  Step step;
  step.options.threads = 1;
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  step.artifact.run_cancel(step.run());
  EXPECT_EQ(step.work(), LLMC_RUN_CANCELLED);
}

// The first thread that asks it stays in its first chunk until another works, and a while longer.
std::atomic<std::thread::id> sleeper;
std::atomic<bool> otherWorks{false};
uint64_t sleepingClock() {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id nobody;
  if (sleeper.compare_exchange_strong(nobody, self)) {
    while (!otherWorks)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  } else if (nobody != self) {
    otherWorks = true;
  }
  return 1;
}

TEST(Executor, LatenessIsNoted) {
  const std::vector<uint32_t> expected = expectedLogits();
  Step step;
  std::vector<llmc_command_time> times(9);
  uint64_t late = 0;
  step.options.clock = sleepingClock;
  step.options.times = times.data();
  step.options.late = &late;
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  sleeper = std::thread::id();
  otherWorks = false;
  std::thread helper([&] { step.work(); });
  ASSERT_EQ(step.work(), LLMC_RUN_OK);
  helper.join();
  EXPECT_EQ(step.logits(), expected);
  EXPECT_GT(late, 0u); // one slept 30 ms in a chunk, the other waited for it
}

TEST(Executor, HelpersMayLeaveBeforeTheEnd) {
  const std::vector<uint32_t> expected = expectedLogits();
  for (int repeat = 0; repeat < 20; ++repeat) {
    Step step(demo_delay_llmc_query);
    ASSERT_EQ(step.begin(), LLMC_RUN_OK);
    std::thread first([&] { step.artifact.run_help(step.run()); });
    std::thread second([&] { step.artifact.run_help(step.run()); });
    ASSERT_EQ(step.work(), LLMC_RUN_OK);
    ASSERT_EQ(step.logits(), expected);
    first.join();
    second.join();
  }
}

TEST(Executor, AHelperLeavesARunThatLosesTimeAndWorkGoesOnWithoutIt) {
  const std::vector<uint32_t> expected = expectedLogits();
  Step step;
  std::vector<llmc_command_time> times(9);
  step.options.clock = sleepingClock;
  step.options.times = times.data();
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  sleeper = std::thread::id();
  otherWorks = false;
  std::thread helper([&] { step.artifact.run_help(step.run()); });
  while (sleeper == std::thread::id())
    std::this_thread::yield(); // the helper has the first chunk
  std::thread worker([&] { EXPECT_EQ(step.work(), LLMC_RUN_OK); });
  helper.join();
  worker.join();
  EXPECT_EQ(step.logits(), expected);
}

TEST(Executor, HelpersComeInVainToAThreadThatIsAlone) {
  Step step;
  step.options.threads = 1;
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  step.artifact.run_help(step.run());
  EXPECT_EQ(step.work(), LLMC_RUN_OK);
  EXPECT_EQ(step.logits(), expectedLogits());
}

TEST(Executor, OptionsThatEndBeforeLatenessAreEnough) {
  Step step;
  uint64_t late = 7;
  step.options.late = &late;
  step.options.struct_size = offsetof(llmc_run_options, late);
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  ASSERT_EQ(step.work(), LLMC_RUN_OK);
  EXPECT_EQ(step.logits(), expectedLogits());
  EXPECT_EQ(late, 7u);
}

uint64_t countingClock() {
  static std::atomic<uint64_t> ticks{0};
  return ++ticks;
}

TEST(Executor, TimesSpanAllChunksOfACommand) {
  Step step;
  std::vector<llmc_command_time> times(9, {7, 7});
  step.options.clock = countingClock;
  step.options.times = times.data();
  step.options.end_command = 2;
  ASSERT_EQ(step.begin(), LLMC_RUN_OK);
  ASSERT_EQ(step.work(), LLMC_RUN_OK);
  // 100 rows by 3 are 34 chunks of command 0, 300 programs by 4 are 75 of command 1; each reads the
  // clock twice.
  EXPECT_EQ(times[0].end - times[0].begin, 67u);
  EXPECT_EQ(times[1].begin, times[0].end + 1);
  EXPECT_EQ(times[1].end - times[1].begin, 149u);
  EXPECT_EQ(times[2].begin, 0u);
  EXPECT_EQ(times[7].end, 0u);
}

} // namespace
} // namespace llmc::test
