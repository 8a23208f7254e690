// SPDX-License-Identifier: Apache-2.0
// One step timed command by command. Commands that do not need each other may overlap, so their
// times may add up to more than the step's.
#pragma once

#include "tools/llmc/LoadedModel.h"

namespace llmc::tool {

struct TimedCommand {
  std::string name;   // "layers.3.qkv"
  std::string kernel; // "linear.576x960"
  uint64_t begin = 0; // nanoseconds; both 0 where it did not run
  uint64_t end = 0;
};

struct TimedStep {
  std::string graph; // "decode"
  std::vector<TimedCommand> commands;
};

const char *graphName(uint32_t kind);

// Runs the rows, keeps them, and fills `step`.
Status timeCommands(const LoadedModel &loaded, llmc_session *session,
                    const std::vector<llmc_rows> &rows, TimedStep &step);

struct CommandCost {
  std::string graph;
  std::string name;
  std::string kernel;
  uint32_t count;      // commands summed
  double microseconds; // of all of them, median over the steps
  double share;        // of the sum over the graph
};

// Of steps of one graph, all alike; the costliest first. `byKind` sums what differs in its layer's
// number only.
std::vector<CommandCost> commandCosts(const std::vector<TimedStep> &steps, bool byKind);

} // namespace llmc::tool
