// SPDX-License-Identifier: Apache-2.0
// A graph's commands as a table: what runs, over what, after what, on what.
#include "runtime/engine/Inspect.h"
#include "tools/llmc/bench/CommandTimes.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/InspectParts.h"

namespace llmc::tool {
namespace {

// "rows x 3": as many programs as the step has rows, times three.
std::string gridOf(const llmc_command &command) {
  static constexpr const char *kExtents[] = {"", "rows", "outputs", "sequences"};
  const std::string extent =
      command.extent < std::size(kExtents) ? kExtents[command.extent] : "unknown";
  const std::string inner = std::to_string(command.inner);
  if (extent.empty())
    return inner;
  return command.inner == 1 ? extent : extent + " x " + inner;
}

std::string operandText(const llmc_artifact &artifact, const llmc_operand &operand) {
  const std::string offset = "+" + std::to_string(operand.offset);
  switch (operand.kind) {
  case LLMC_OPERAND_ROWS:
    return "rows" + offset;
  case LLMC_OPERAND_OUTPUTS:
    return "outputs" + offset;
  case LLMC_OPERAND_WEIGHT:
    return "weight:" + escaped(artifact.weights[operand.index].name);
  default:
    return "kv:" + escaped(artifact.caches[operand.index].name);
  }
}

std::string operandsOf(const llmc_artifact &artifact, const llmc_graph &graph,
                       const llmc_command &command) {
  std::string text;
  for (uint32_t i = 0; i < command.n_slots; ++i) {
    const uint16_t slot = graph.slots[command.first_slot + i];
    text += (i ? " " : "") + operandText(artifact, graph.operands[slot]);
  }
  return text;
}

} // namespace

Status printCommands(const LoadedModel &loaded, const std::string &name) {
  const llmc_artifact &artifact = inspect::artifactOf(loaded.model.get());
  uint32_t at = 0;
  while (at < artifact.n_graphs && name != graphName(artifact.graphs[at].kind))
    ++at;
  if (at == artifact.n_graphs)
    return errorAt(loaded.path, "graphs",
                   "found no graph " + name + ", expected one of those that 'llmc inspect' lists");
  const llmc_graph &graph = artifact.graphs[at];
  Table table({">", "command", "kernel", "programs", ">chunk", ">after", "operands"});
  for (uint32_t i = 0; i < graph.n_commands; ++i) {
    const llmc_command &command = graph.commands[i];
    table.add({std::to_string(i), escaped(graph.names + command.name),
               escaped(artifact.kernel_names[command.kernel]), gridOf(command),
               std::to_string(command.programs_per_chunk),
               command.dependency < 0 ? "-" : std::to_string(command.dependency),
               operandsOf(artifact, graph, command)});
  }
  print(table.text());
  return {};
}

} // namespace llmc::tool
