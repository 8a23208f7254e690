// SPDX-License-Identifier: Apache-2.0
// What tools do: run a step command by command, look between, time each command, keep or drop the
// step.
#include "runtime/engine/Inspect.h"
#include "test/runtime/engine/Support.h"
#include <chrono>

namespace llmc::test {
namespace {

uint64_t clockNow() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

TEST(Inspect, StepByCommandsGivesTheBitsOfTheWholeStep) {
  const std::vector<int32_t> tokens = someTokens(80);
  Bench whole({2}, {0, 100, 1, 100, 1, 0});
  ASSERT_EQ(whole.prefill(whole.sequence(), tokens), LLMC_OK);
  Bench bench({2}, {0, 100, 1, 100, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  {
    inspect::SteppedRun run;
    const llmc_rows rows = rowsOf(sequence, tokens);
    ASSERT_EQ(run.begin(bench.session, &rows, 1, nullptr, &bench.error), LLMC_OK);
    const llmc_graph &graph = inspect::artifactOf(bench.model).graphs[run.graph()];
    EXPECT_EQ(run.step().n_rows, 80u);
    EXPECT_EQ(llmc_sequence_truncate(sequence, 0, nullptr), LLMC_BUSY);
    for (uint32_t i = 0; i < graph.n_commands; ++i)
      ASSERT_EQ(run.run(i, i + 1, nullptr, nullptr, &bench.error), LLMC_OK) << bench.error.message;
    EXPECT_EQ(memcmp(run.result().logits, whole.result.logits, kVocabulary * sizeof(float)), 0);
    run.keep();
  }
  EXPECT_EQ(llmc_sequence_length(sequence), 80u);
}

TEST(Inspect, StoppedRunIsUndone) {
  Bench bench({}, {0, 100, 1, 100, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  const std::vector<int32_t> tokens = someTokens(80);
  const llmc_rows rows = rowsOf(sequence, tokens);
  {
    inspect::SteppedRun run;
    ASSERT_EQ(run.begin(bench.session, &rows, 1, nullptr, nullptr), LLMC_OK);
    EXPECT_EQ(run.run(0, 2, nullptr, nullptr, nullptr), LLMC_OK);
    EXPECT_EQ(run.run(5, 100, nullptr, nullptr, nullptr), LLMC_INVALID_ARGUMENT);
    EXPECT_NE(inspect::chunkAddress(sequence, 1), nullptr);
  }
  EXPECT_EQ(llmc_sequence_length(sequence), 0u);
  EXPECT_EQ(inspect::chunkAddress(sequence, 0), nullptr);
  EXPECT_EQ(bench.prefill(sequence, someTokens(100)), LLMC_OK) << bench.error.message;
}

TEST(Inspect, OperandsAndCachesAreWhereKernelsPutThem) {
  Bench bench({}, {0, 200, 2, 100, 1, 1});
  llmc_sequence *other = bench.sequence(), *sequence = bench.sequence();
  ASSERT_EQ(bench.prefill(other, someTokens(70)), LLMC_OK);
  const std::vector<int32_t> tokens = someTokens(80, 2);
  const llmc_rows rows = rowsOf(sequence, tokens);
  inspect::SteppedRun run;
  ASSERT_EQ(run.begin(bench.session, &rows, 1, nullptr, nullptr), LLMC_OK);
  ASSERT_EQ(run.run(0, 2, nullptr, nullptr, nullptr), LLMC_OK);
  // Key of token 66 in layer 0, by hand: rows 16..31 of the joined weight times x.
  const float *x = static_cast<const float *>(run.operandAddress(0)) + 66 * 16;
  const float *weight = static_cast<const float *>(run.operandAddress(6)) + 16 * 16;
  EXPECT_EQ(reinterpret_cast<const char *>(weight) -
                static_cast<const char *>(inspect::weightsOf(bench.model)),
            2560 + 16 * 16 * 4);
  const char *chunk = static_cast<const char *>(inspect::chunkAddress(sequence, 1));
  const float *key =
      reinterpret_cast<const float *>(chunk + inspect::artifactOf(bench.model).caches[0].offset) +
      2 * 16;
  for (int i = 0; i < 16; ++i) {
    float sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += weight[i * 16 + k] * x[k];
    EXPECT_FLOAT_EQ(key[i], sum);
  }
}

TEST(Inspect, CommandsAreTimedInOrder) {
  Bench bench({2}, {0, 100, 1, 100, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  const std::vector<int32_t> tokens = someTokens(80);
  const llmc_rows rows = rowsOf(sequence, tokens);
  inspect::SteppedRun run;
  ASSERT_EQ(run.begin(bench.session, &rows, 1, nullptr, nullptr), LLMC_OK);
  llmc_command_time times[9];
  memset(times, 0x55, sizeof times);
  ASSERT_EQ(run.run(0, 6, clockNow, times, nullptr), LLMC_OK);
  for (int i = 0; i < 6; ++i) {
    EXPECT_GT(times[i].begin, 0u);
    EXPECT_GE(times[i].end, times[i].begin);
    if (i) { // every command of the demo needs the one before
      EXPECT_GE(times[i].begin, times[i - 1].end);
    }
  }
  EXPECT_EQ(times[6].begin, 0u);
  EXPECT_EQ(times[7].end, 0u);
}

} // namespace
} // namespace llmc::test
