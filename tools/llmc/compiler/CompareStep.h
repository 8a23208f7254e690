// SPDX-License-Identifier: Apache-2.0
//
// One step of the artefact, command by command beside the reference.
#pragma once

#include "dialects/llm/reference/Interpreter.h"
#include "tools/llmc/compiler/CompareCaches.h"
#include "tools/llmc/compiler/CompareDrift.h"
#include "tools/llmc/compiler/CompareSides.h"

namespace llmc::compare {

/// New tokens of one sequence.
struct StepEntry {
  uint64_t sequence; ///< index into the sequences
  std::vector<int32_t> tokens;
};

struct StepPlan {
  std::string name; ///< "decode 2"
  llmc_step_graph graph;
  llmc_outputs outputs;
  std::vector<StepEntry> entries;
};

/// What lasts from step to step.
struct CompareState {
  Sides &sides;
  llmc_session *session;
  SequenceList sequences;
  reference::Interpreter interpreter;
  reference::Caches caches; ///< what the compiled side has appended
  std::optional<double> bound;
  CompareReport report;
  std::optional<Drift> drift;
};

/// Compares until the first difference, which goes to the report; else keeps the step and gives the
/// likeliest next token of each entry (of its last output).
Result<std::vector<int32_t>> compareStep(CompareState &state, const StepPlan &plan);

} // namespace llmc::compare
