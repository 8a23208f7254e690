// SPDX-License-Identifier: Apache-2.0
// Steps timed command by command, and the table of what each command takes and should take.
// Commands that do not need each other may overlap, so their times may add up to more than the
// step's.
#pragma once

#include "tools/llmc/LoadedModel.h"
#include "tools/llmc/bench/Work.h"

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

// While a step ran, how long no command did: what goes from the end of one to the begin of the
// next.
struct Boundaries {
  double seconds = 0;
  uint32_t commands = 0; // that ran
};
Boundaries boundariesOf(const TimedStep &step);

struct CommandCost {
  std::string graph;
  std::string name;
  std::string kernel;
  uint32_t count = 0;      // commands summed
  double microseconds = 0; // of all of them, median over the steps
  Work work;               // of all of them; zero where it is not known
  bool isLinear = false;   // multiplies by a matrix of weights
  double share = 0;        // of the sum over the graph
  double bound = 0;        // microseconds at the ceilings
  bool bindsReading = false;

  double lost() const { return microseconds - bound; }
};

// A cost for each command that ran in these steps, all alike; `works` and `linears` are empty or
// have one for each command.
void addCosts(std::vector<CommandCost> &costs, const std::vector<TimedStep> &steps,
              const std::vector<Work> &works, const std::vector<bool> &linears);
// Commands of one name summed, or with `byKind` those that differ in their layer's number only. The
// first loses the most time against its bound.
std::vector<CommandCost> costTable(const std::vector<CommandCost> &costs, bool byKind,
                                   const ceilings::Ceilings &ceilings);

} // namespace llmc::tool
