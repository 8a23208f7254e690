// SPDX-License-Identifier: Apache-2.0
// What steps have to do at least, out of the cost table that a model carries, and how long that
// takes at a machine's ceilings.
#pragma once

#include "passes/cost/CostTerms.h"
#include "tools/llmc/LoadedModel.h"
#include "tools/llmc/ceilings/Ceilings.h"

namespace llmc::tool {

// Bytes that come from memory in each step anew: weights, keys and values. Activations stay in the
// caches of one command and the next.
struct Work {
  double bytes = 0;
  double f32 = 0, int8 = 0; // operations by what they multiply, a multiply-add being two
  double kvBytes = 0;       // of the bytes, those of keys and values

  double operations() const { return f32 + int8; }
  Work &operator+=(const Work &other);
};

// Seconds at the ceilings; 0 where one of them is not known.
double readSeconds(const Work &work, const ceilings::Ceilings &ceilings);
double arithmeticSeconds(const Work &work, const ceilings::Ceilings &ceilings);
// Both at once: the longer of the two.
double boundSeconds(const Work &work, const ceilings::Ceilings &ceilings);

class WorkTable {
public:
  // Empty where the manifest has no cost table: models written by hand or from edited IR.
  static WorkTable of(const LoadedModel &loaded);

  bool isEmpty() const { return graphs.empty(); }
  // Of each command of a graph (an index into artifact.graphs); all zero in an empty table.
  std::vector<Work> commands(uint32_t graph, const llm::StepShape &shape) const;
  // Of each command of a graph: whether it multiplies by a matrix of weights, as the head does too.
  std::vector<bool> linears(uint32_t graph) const;

private:
  struct Command {
    cost::RegionTerms region;
    bool isKnown;
    bool needsOutputs; // does nothing in a step without any, reads no weights either
  };
  std::vector<std::vector<Command>> graphs;
};

} // namespace llmc::tool
