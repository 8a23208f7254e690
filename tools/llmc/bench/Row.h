// SPDX-License-Identifier: Apache-2.0
// A row of `llmc bench`: one workload run several times, each run between two measurements of what
// the machine can do. Runs during which that moved are not counted.
#pragma once

#include "tools/llmc/bench/Statistics.h"
#include "tools/llmc/bench/Workload.h"
#include <optional>

namespace llmc::tool {

// More than so much, and a run is not counted.
constexpr double kMostMovement = 0.1;

struct RowKey {
  bool isPrefill = true;
  uint32_t promptLength = 0; // of a prefill
  uint32_t depth = 0;        // of a decode, as the next two
  uint32_t batch = 1;
  uint32_t generated = 0;
  uint32_t threads = 1;
};

// Medians over the runs that count; over all of them where none does.
struct Row {
  RowKey key;
  uint32_t kept = 0, discarded = 0;
  std::vector<double> rates; // tokens a second, of each run
  Spread rate;
  Spread seconds;    // of a run
  double step50 = 0; // seconds of a step, over the steps of all runs
  double step99 = 0;
  Work work; // of a run
  ceilings::Ceilings ceilings;
  bool knowsWork = false;   // else the shares are 0
  double ofRead = 0;        // time that reading alone would take, as a share of the time taken
  double ofPeak = 0;        // the same of the arithmetic alone
  double ofBound = 0;       // the same of the sum over commands of the longer of the two
  double linearsOfPeak = 0; // time of linears' arithmetic at the peak, as a share of their own time
  Boundaries boundaries;    // of a step, with the clock's own cost
  std::vector<CommandCost> costs; // of all steps of a prefill, of one step of a decode
  std::vector<TimedStep> timed;   // of the last time
};

struct RowOptions {
  uint32_t repeats = 5;
  bool byKind = false;
};

// What the runs are held against.
struct Judge {
  WorkTable works;
  ceilings::Ground ground;
};
Judge judgeOf(const LoadedModel &loaded);

Result<Row> measureRow(Workload &workload, const RowKey &key, const Judge &judge,
                       const RowOptions &options);

} // namespace llmc::tool
