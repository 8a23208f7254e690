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

std::vector<CommandCost> commandCosts(const std::vector<TimedStep> &steps, bool byKind) {
  std::vector<CommandCost> costs;
  if (steps.empty())
    return costs;
  std::map<std::string, size_t> places;
  double sum = 0;
  for (size_t i = 0; i < steps[0].commands.size(); ++i) {
    const TimedCommand &command = steps[0].commands[i];
    const double microseconds = medianMicroseconds(steps, i);
    sum += microseconds;
    const std::string name = byKind ? kindOf(command.name) : command.name;
    const auto [place, isNew] = places.emplace(name, costs.size());
    if (isNew || !byKind)
      costs.push_back({steps[0].graph, name, command.kernel, 1, microseconds, 0});
    else {
      CommandCost &cost = costs[place->second];
      ++cost.count;
      cost.microseconds += microseconds;
      if (cost.kernel != command.kernel)
        cost.kernel = "(several)";
    }
  }
  for (CommandCost &cost : costs)
    cost.share = sum > 0 ? cost.microseconds / sum : 0;
  std::sort(costs.begin(), costs.end(), [](const CommandCost &a, const CommandCost &b) {
    return a.microseconds != b.microseconds ? a.microseconds > b.microseconds : a.name < b.name;
  });
  return costs;
}

} // namespace llmc::tool
