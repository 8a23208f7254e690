// SPDX-License-Identifier: Apache-2.0
// The table has a row for each fused region, and a command is named after its region.
#include "tools/llmc/bench/Work.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/Explain.h"
#include "tools/llmc/bench/CommandTimes.h"
#include <algorithm>

namespace llmc::tool {
namespace {

using cost::operator==;

constexpr char kLinearKind[] = "linear"; // as the cost table has it

// 0 where it is not known how fast that goes.
double seconds(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

Work workOf(const cost::RegionTerms &region, const llm::StepShape &shape) {
  const llm::OpCost cost = costOf(region.terms, shape);
  Work work;
  work.bytes = cost.weightBytes + cost.kvBytes;
  work.kvBytes = cost.kvBytes;
  (region.arithmetic == cost::Arithmetic::Int8 ? work.int8 : work.f32) = cost.flops;
  return work;
}

} // namespace

Work &Work::operator+=(const Work &other) {
  bytes += other.bytes;
  f32 += other.f32;
  int8 += other.int8;
  kvBytes += other.kvBytes;
  return *this;
}

double readSeconds(const Work &work, const ceilings::Ceilings &ceilings) {
  return seconds(work.bytes, ceilings.read);
}

double arithmeticSeconds(const Work &work, const ceilings::Ceilings &ceilings) {
  return seconds(work.f32, ceilings.f32) + seconds(work.int8, ceilings.int8);
}

double boundSeconds(const Work &work, const ceilings::Ceilings &ceilings) {
  return std::max(readSeconds(work, ceilings), arithmeticSeconds(work, ceilings));
}

WorkTable WorkTable::of(const LoadedModel &loaded) {
  const llmc_artifact &artifact = inspect::artifactOf(loaded.model.get());
  Result<std::vector<cost::RegionTerms>> regions =
      termsFromJson({artifact.manifest, artifact.manifest_bytes}, loaded.path);
  WorkTable table;
  if (!regions)
    return table;
  for (uint32_t i = 0; i < artifact.n_graphs; ++i) {
    const llmc_graph &graph = artifact.graphs[i];
    std::vector<Command> &commands = table.graphs.emplace_back();
    for (uint32_t c = 0; c < graph.n_commands; ++c) {
      Command command{{}, false, graph.commands[c].extent == LLMC_EXTENT_OUTPUTS};
      const char *name = graph.names + graph.commands[c].name;
      // Where several commands are named after one region, the first stands for its work.
      for (cost::RegionTerms &region : *regions)
        if (region.name == name && region.graph == graphName(graph.kind)) {
          command.region = region;
          command.isKnown = true;
          command.needsOutputs |= !(region.terms.perOutput == llm::OpCost());
          region.name.clear();
          break;
        }
      commands.push_back(std::move(command));
    }
  }
  return table;
}

std::vector<Work> WorkTable::commands(uint32_t graph, const llm::StepShape &shape) const {
  std::vector<Work> works;
  if (graph >= graphs.size())
    return works;
  for (const Command &command : graphs[graph]) {
    const bool runs = command.isKnown && (shape.outputs || !command.needsOutputs);
    works.push_back(runs ? workOf(command.region, shape) : Work());
  }
  return works;
}

std::vector<bool> WorkTable::linears(uint32_t graph) const {
  std::vector<bool> linears;
  if (graph < graphs.size())
    for (const Command &command : graphs[graph])
      linears.push_back(command.isKnown && command.region.kind == kLinearKind);
  return linears;
}

} // namespace llmc::tool
