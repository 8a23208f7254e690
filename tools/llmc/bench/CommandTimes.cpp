// SPDX-License-Identifier: Apache-2.0
// Times come from the executor through the engine's stepped run.
#include "tools/llmc/bench/CommandTimes.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/Clock.h"
#include "tools/llmc/bench/Statistics.h"
#include <algorithm>
#include <map>

namespace llmc::tool {
namespace {

// "layers.3.qkv" -> "layers.*.qkv": parts that are all digits become a star.
std::string kindOf(const std::string &name) {
  std::string kind;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    const std::string part = name.substr(at, end - at);
    const bool isNumber = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    kind += (at ? "." : "") + (isNumber ? "*" : part);
    at = end + 1;
  }
  return kind;
}

double medianMicroseconds(const std::vector<TimedStep> &steps, size_t command) {
  std::vector<double> times;
  for (const TimedStep &step : steps)
    times.push_back(static_cast<double>(step.commands[command].end - step.commands[command].begin) *
                    1e-3);
  return median(std::move(times));
}

} // namespace

const char *graphName(uint32_t kind) {
  static constexpr const char *kNames[] = {"prefill", "decode", "verify"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

Status timeCommands(const LoadedModel &loaded, llmc_session *session,
                    const std::vector<llmc_rows> &rows, TimedStep &step) {
  const llmc_artifact &artifact = inspect::artifactOf(loaded.model.get());
  CallError error;
  inspect::SteppedRun run;
  if (run.begin(session, rows.data(), static_cast<uint32_t>(rows.size()), nullptr, error.raw()))
    return error.take();
  const llmc_graph &graph = artifact.graphs[run.graph()];
  std::vector<llmc_command_time> times(graph.n_commands);
  if (run.run(0, graph.n_commands, nanosecondsNow, times.data(), error.raw()))
    return error.take();
  run.keep();
  step.graph = graphName(graph.kind);
  step.commands.clear();
  for (uint32_t i = 0; i < graph.n_commands; ++i) {
    const llmc_command &command = graph.commands[i];
    step.commands.push_back({escaped(graph.names + command.name),
                             escaped(artifact.kernel_names[command.kernel]), times[i].begin,
                             times[i].end});
  }
  return {};
}

Boundaries boundariesOf(const TimedStep &step) {
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const TimedCommand &command : step.commands)
    if (command.end)
      spans.emplace_back(command.begin, command.end);
  std::sort(spans.begin(), spans.end());
  uint64_t idle = 0, busyUntil = spans.empty() ? 0 : spans[0].first;
  for (const auto &[begin, end] : spans) {
    idle += begin > busyUntil ? begin - busyUntil : 0;
    busyUntil = std::max(busyUntil, end);
  }
  return {static_cast<double>(idle) * 1e-9, static_cast<uint32_t>(spans.size())};
}

void addCosts(std::vector<CommandCost> &costs, const std::vector<TimedStep> &steps,
              const std::vector<Work> &works, const std::vector<bool> &linears) {
  for (size_t i = 0; !steps.empty() && i < steps[0].commands.size(); ++i) {
    const TimedCommand &command = steps[0].commands[i];
    if (!command.end)
      continue;
    CommandCost cost;
    cost.graph = steps[0].graph;
    cost.name = command.name;
    cost.kernel = command.kernel;
    cost.count = 1;
    cost.microseconds = medianMicroseconds(steps, i);
    if (i < works.size())
      cost.work = works[i];
    cost.isLinear = i < linears.size() && linears[i];
    costs.push_back(std::move(cost));
  }
}

std::vector<CommandCost> costTable(const std::vector<CommandCost> &costs, bool byKind,
                                   const ceilings::Ceilings &ceilings) {
  std::vector<CommandCost> table;
  std::map<std::pair<std::string, std::string>, size_t> places;
  double sum = 0;
  for (const CommandCost &cost : costs) {
    const std::string name = byKind ? kindOf(cost.name) : cost.name;
    const auto [place, isNew] = places.emplace(std::pair(cost.graph, name), table.size());
    if (isNew) {
      table.emplace_back();
      table.back().graph = cost.graph;
      table.back().name = name;
      table.back().kernel = cost.kernel;
      table.back().isLinear = cost.isLinear;
    }
    CommandCost &row = table[place->second];
    row.count += cost.count;
    row.microseconds += cost.microseconds;
    row.work += cost.work;
    if (row.kernel != cost.kernel)
      row.kernel = "(several)";
    sum += cost.microseconds;
  }
  for (CommandCost &row : table) {
    row.share = sum > 0 ? row.microseconds / sum : 0;
    row.bound = boundSeconds(row.work, ceilings) * 1e6;
    row.bindsReading = readSeconds(row.work, ceilings) >= arithmeticSeconds(row.work, ceilings);
  }
  std::sort(table.begin(), table.end(), [](const CommandCost &a, const CommandCost &b) {
    return a.lost() != b.lost() ? a.lost() > b.lost() : a.name < b.name;
  });
  return table;
}

} // namespace llmc::tool
