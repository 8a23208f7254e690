// SPDX-License-Identifier: Apache-2.0
//
// Delays at the claims: the executor asks a clock before and after each chunk, and this clock sometimes sleeps. Chunks then end in
// all orders, on all threads.
#include "runtime/engine/Inspect.h"
#include "test/e2e/bits/Schedules.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace llmc::test {
namespace {

std::atomic<uint64_t> turn{0};

uint64_t sleepyClock() {
  uint64_t word = turn.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15u;
  word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9u;
  word ^= word >> 32;
  if (word % 61 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(word / 61 % 100));
  else if (word % 7 == 0)
    std::this_thread::yield();
  return 1 + word % 1000;
}

Logits delayedStep(Runner &runner, llmc_sequence *sequence, const int32_t *tokens, size_t count,
                   std::string &error) {
  llmc_error message = {};
  message.struct_size = sizeof message;
  const llmc_rows rows = {sizeof rows,      uint32_t(count), sequence, tokens,
                          LLMC_OUTPUTS_ALL, 0,               nullptr};
  inspect::SteppedRun run;
  const llmc_artifact &artifact = inspect::artifactOf(runner.opened());
  llmc_status status = run.begin(runner.session(), &rows, 1, nullptr, &message);
  if (status == LLMC_OK) {
    std::vector<llmc_command_time> times(artifact.graphs[run.graph()].n_commands);
    status = run.run(0, UINT32_MAX, sleepyClock, times.data(), &message);
  }
  if (status != LLMC_OK) {
    error = message.message;
    return {};
  }
  run.keep();
  const llmc_step_result result = run.result();
  return Logits(result.logits, result.logits + size_t(result.n_outputs) * result.vocabulary);
}

} // namespace

std::string withDelays(const Canonical &expected, RunnerOptions options, int repeats,
                       uint64_t seed) {
  Runner runner(expected.path, options);
  if (!runner.ok())
    return runner.error();
  turn = seed << 32;
  llmc_sequence *sequence = runner.sequence();
  const size_t count = expected.tokens.size();
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const size_t most = repeat % 2 ? 67 : count;
    Logits found;
    std::string error;
    for (size_t begin = 0; begin < count && error.empty(); begin += most) {
      Logits part = delayedStep(runner, sequence, expected.tokens.data() + begin,
                                std::min(most, count - begin), error);
      found.insert(found.end(), part.begin(), part.end());
    }
    if (error.empty())
      error = differenceOf(found, expected.logits, expected.vocabulary);
    if (!error.empty())
      return "repeat " + std::to_string(repeat) + ": " + error;
    if (!runner.truncate(sequence, 0))
      return runner.error();
  }
  return {};
}

} // namespace llmc::test
