// SPDX-License-Identifier: Apache-2.0
// The "JSON object" form of the trace event format, with complete events ("ph": "X").
#include "tools/llmc/bench/Trace.h"
#include "tools/llmc/NewFile.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

using Json = nlohmann::ordered_json;

uint64_t startOf(const TimedStep &step) {
  uint64_t start = UINT64_MAX;
  for (const TimedCommand &command : step.commands)
    if (command.end)
      start = std::min(start, command.begin);
  return start;
}

// The first track that is free at `begin`; it is taken until `end`.
size_t takeTrack(std::vector<uint64_t> &freeFrom, uint64_t begin, uint64_t end) {
  size_t track = 0;
  while (track < freeFrom.size() && freeFrom[track] > begin)
    ++track;
  if (track == freeFrom.size())
    freeFrom.push_back(0);
  freeFrom[track] = end;
  return track;
}

void addStep(Json &events, const TimedStep &step, int process) {
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", step.graph}}}});
  const uint64_t start = startOf(step);
  std::vector<const TimedCommand *> inOrder;
  for (const TimedCommand &command : step.commands)
    if (command.end)
      inOrder.push_back(&command);
  std::sort(inOrder.begin(), inOrder.end(), [](const TimedCommand *a, const TimedCommand *b) {
    return a->begin != b->begin ? a->begin < b->begin : a < b;
  });
  std::vector<uint64_t> freeFrom;
  for (const TimedCommand *command : inOrder)
    events.push_back({{"name", command->name},
                      {"cat", command->kernel},
                      {"ph", "X"},
                      {"ts", static_cast<double>(command->begin - start) * 1e-3},
                      {"dur", static_cast<double>(command->end - command->begin) * 1e-3},
                      {"pid", process},
                      {"tid", takeTrack(freeFrom, command->begin, command->end)},
                      {"args", {{"kernel", command->kernel}}}});
}

} // namespace

Status writeTrace(const std::string &path, const std::vector<TimedStep> &steps) {
  Json events = Json::array();
  for (size_t i = 0; i < steps.size(); ++i)
    addStep(events, steps[i], static_cast<int>(i) + 1);
  const Json trace = {{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}};
  return writeWholeFile(path, trace.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

} // namespace llmc::tool
