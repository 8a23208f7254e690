// SPDX-License-Identifier: Apache-2.0
// What a row of `llmc bench` runs again and again: a list of steps after a number of tokens that
// the sequences hold already. A prefill is the steps of one prompt, a decode one step for each new
// token of a batch.
#pragma once

#include "dialects/llm/LLMCost.h"
#include "tools/llmc/bench/CommandTimes.h"

namespace llmc::tool {

struct StepSize {
  uint32_t tokens; // of each sequence
  bool output;     // logits of the last of them
};

// A step as it ran.
struct StepRan {
  uint32_t graph = 0; // an index into artifact.graphs
  llm::StepShape shape;
  double seconds = 0;
};

class Workload {
public:
  // The prompt in pieces as llmc_prefill takes it.
  static Result<Workload> ofPrefill(const LoadedModel &loaded, uint32_t promptLength);
  // `generated` steps, each with a token of each of `batch` sequences that hold `depth` tokens.
  static Result<Workload> ofDecode(const LoadedModel &loaded, uint32_t depth, uint32_t batch,
                                   uint32_t generated);

  uint64_t tokens() const; // of all steps together
  // Of the tokens that the sequences hold already, page by page; the session's.
  std::vector<ceilings::Stretch> keysAndValues() const;
  Result<std::vector<StepRan>> run();
  // The first steps, `most` of them if there are more, timed command by command.
  Result<std::vector<TimedStep>> timeSteps(size_t most);
  // Whether the last step gave numbers; an error if not.
  Status checkLogits() const;

private:
  Workload(const LoadedModel &loaded, uint32_t depth, uint32_t batch)
      : loaded(&loaded), depth(depth), batch(batch) {}
  Status prepare(uint32_t maxRows);
  Status fill(llmc_sequence *sequence);
  Status rewind(); // back to `depth` tokens
  std::vector<llmc_rows> rowsOf(const StepSize &step) const;

  const LoadedModel *loaded;
  uint32_t depth;
  uint32_t batch;
  std::vector<StepSize> steps;
  SessionOwner session;
  std::vector<llmc_sequence *> sequences; // borrowed from the session
  std::vector<int32_t> ids;               // random tokens, as many as the largest step has
  llmc_step_result result{};
};

} // namespace llmc::tool
