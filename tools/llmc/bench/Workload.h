// SPDX-License-Identifier: Apache-2.0
// Runs the workload of `llmc bench`: a batch of sequences, each with its own random prompt, decoded
// together.
#pragma once

#include "tools/llmc/bench/CommandTimes.h"

namespace llmc::tool {

// Of one run, in seconds.
struct RunTimes {
  double firstTokens = 0; // from the start until every sequence has its first token
  double endToEnd = 0;
  std::vector<double> betweenTokens; // of each decode step
};

class Workload {
public:
  static Result<Workload> prepare(const LoadedModel &loaded, const BenchOptions &options);

  Result<RunTimes> run();
  // One prefill step (of the first sequence, as long as a step may be) and one decode step (of
  // all).
  Status timeSteps(TimedStep &prefill, TimedStep &decode);

private:
  Workload(const LoadedModel &loaded, const BenchOptions &options)
      : loaded(&loaded), options(&options) {}
  Status begin(); // empty sequences
  Status prefill(size_t sequence, size_t firstToken);
  std::vector<llmc_rows> decodeRows() const;
  Status decode();

  const LoadedModel *loaded;
  const BenchOptions *options;
  SessionOwner session;
  uint32_t maxRows = 0;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<llmc_sequence *> sequences; // borrowed from the session
  std::vector<int32_t> last;              // token of each sequence that comes next
};

} // namespace llmc::tool
