// SPDX-License-Identifier: Apache-2.0
// What `llmc explain` prints. A region's time is the larger of its arithmetic and its traffic at
// the machine's ceilings; regions add up. So times are bounds: nothing is faster.
#include "tools/llmc/Explain.h"
#include "tools/llmc/Format.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace llmc::tool {
namespace {

using Json = nlohmann::ordered_json;
using cost::Machine;
using llm::OpCost;

constexpr uint64_t kChunkTokens = 64;

// Equal regions of several layers.
struct Row {
  std::string name;
  const cost::RegionTerms *region = nullptr;
  uint64_t count = 1;
  OpCost cost; // of all of them
  double seconds = 0, memorySeconds = 0, arithmeticSeconds = 0;

  bool bindsMemory() const { return memorySeconds >= arithmeticSeconds; }
};

struct Phase {
  std::string name;
  llm::StepShape shape;
  std::vector<Row> rows;
  OpCost total;
  double seconds = 0, memoryBoundSeconds = 0;
};

// "layers.3.qkv" -> "layers.*.qkv".
std::string withoutLayer(const std::string &name) {
  const std::string prefix = "layers.";
  const size_t dot = name.find('.', prefix.size());
  const bool numbered = name.compare(0, prefix.size(), prefix) == 0 && dot != std::string::npos;
  return numbered ? prefix + "*" + name.substr(dot) : name;
}

bool sameCost(const cost::RegionTerms &left, const cost::RegionTerms &right) {
  return left.kind == right.kind && left.arithmetic == right.arithmetic &&
         left.terms == right.terms;
}

Row *findEqual(std::vector<Row> &rows, const std::string &name, const cost::RegionTerms &region) {
  for (Row &row : rows)
    if (row.name == name && sameCost(*row.region, region))
      return &row;
  return nullptr;
}

void timeRow(Row &row, const Machine &machine) {
  row.memorySeconds = row.cost.bytes() / machine.readBandwidth;
  row.arithmeticSeconds = row.cost.flops / machine.peakOf(row.region->arithmetic);
  row.seconds = std::max(row.memorySeconds, row.arithmeticSeconds);
}

Phase makePhase(const ExplainedModel &model, const ExplainOptions &options, std::string name,
                const llm::StepShape &shape, const Machine &machine) {
  Phase phase;
  phase.name = std::move(name), phase.shape = shape;
  for (const cost::RegionTerms &region : model.regions) {
    if (region.graph != phase.name)
      continue;
    const std::string rowName = options.perLayer ? region.name : withoutLayer(region.name);
    Row *row = options.perLayer ? nullptr : findEqual(phase.rows, rowName, region);
    if (row) {
      ++row->count;
    } else {
      row = &phase.rows.emplace_back();
      row->name = rowName, row->region = &region;
    }
    row->cost += costOf(region.terms, shape);
  }
  for (Row &row : phase.rows) {
    timeRow(row, machine);
    phase.total += row.cost;
    phase.seconds += row.seconds;
    phase.memoryBoundSeconds += row.bindsMemory() ? row.seconds : 0;
  }
  return phase;
}

// Three digits and a unit: "12.3 M".
std::string count(double value) {
  static constexpr const char *kUnits[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits))
    value /= 1000, ++unit;
  const bool whole = unit == 0 && value == double(int64_t(value));
  return formatted(whole ? "%.0f%s" : "%.3g%s", value, kUnits[unit]);
}

std::string plural(uint64_t count, const char *word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string shapeInWords(const Phase &phase) {
  const llm::StepShape &shape = phase.shape;
  const int64_t fresh = shape.rows / shape.sequences;
  return plural(uint64_t(shape.sequences), "sequence") + ", " +
         plural(uint64_t(fresh), "new token") + " each after " +
         std::to_string(shape.context - fresh);
}

std::string duration(double seconds) {
  return seconds < 1e-6 ? formatted("%.0f ns", seconds * 1e9) : timeInWords(seconds);
}

void addCells(Table &table, const std::string &name, const std::string &kind, uint64_t regions,
              const OpCost &cost, const std::string &bound, double seconds) {
  table.add({name, kind, std::to_string(regions), count(cost.flops), count(cost.weightBytes),
             count(cost.activationBytes), count(cost.kvBytes), formatted("%.2f", cost.intensity()),
             bound, duration(seconds)});
}

void printPhase(const Phase &phase) {
  print("\n" + phase.name + ": " + shapeInWords(phase) + "\n");
  Table table({"op", "kind", ">x", ">FLOPs", ">weights B", ">activations B", ">KV B", ">FLOPs/B",
               "bound", ">time"});
  uint64_t regions = 0;
  for (const Row &row : phase.rows) {
    addCells(table, escaped(row.name), escaped(row.region->kind), row.count, row.cost,
             row.bindsMemory() ? "memory" : cost::name(row.region->arithmetic), row.seconds);
    regions += row.count;
  }
  addCells(table, "total", "", regions, phase.total,
           formatted("%.0f%% memory",
                     phase.seconds > 0 ? 100 * phase.memoryBoundSeconds / phase.seconds : 0),
           phase.seconds);
  print(table.text());
  if (phase.seconds > 0)
    print(formatted("at most %.4g tokens/s\n", double(phase.shape.rows) / phase.seconds));
}

// What a session for the step holds, the engine's own tables apart.
struct Memory {
  uint64_t chunks, kv, arena, total;
};

Memory memoryOf(const ExplainedModel &model, const Phase &phase) {
  const llm::StepShape &shape = phase.shape;
  const ExplainedMemory &sizes = model.memory;
  const uint64_t perSequence = (uint64_t(shape.context) + kChunkTokens - 1) / kChunkTokens;
  Memory memory{};
  memory.chunks = perSequence * uint64_t(shape.sequences);
  memory.kv = memory.chunks * sizes.chunk;
  memory.arena =
      sizes.rowsArena * uint64_t(shape.rows) + sizes.outputsArena * uint64_t(shape.outputs);
  memory.total = sizes.weights + memory.kv + memory.arena;
  return memory;
}

void printMemory(const ExplainedModel &model, const std::vector<Phase> &phases) {
  print("\nmemory, exact: weights " + sizeInWords(model.memory.weights) + "; KV " +
        formatted("%llu bytes for each 64 tokens of a sequence; a row %llu bytes, an output %llu\n",
                  static_cast<unsigned long long>(model.memory.chunk),
                  static_cast<unsigned long long>(model.memory.rowsArena),
                  static_cast<unsigned long long>(model.memory.outputsArena)));
  Table table({"step", ">weights", ">KV", ">activations", ">total bytes"});
  for (const Phase &phase : phases) {
    const Memory memory = memoryOf(model, phase);
    table.add({phase.name, std::to_string(model.memory.weights), std::to_string(memory.kv),
               std::to_string(memory.arena), std::to_string(memory.total)});
  }
  print(table.text());
}

void printMachine(const Machine &machine) {
  print(formatted("machine  %s: %s\n", machine.name, machine.about));
  print(formatted(
      "         read %sB/s; FLOP/s f32 %s, bf16 %s, int8 %s; arithmetic binds from %.1f "
      "FLOPs/B (f32)\n",
      count(machine.readBandwidth).c_str(), count(machine.peakOf(cost::Arithmetic::F32)).c_str(),
      count(machine.peakOf(cost::Arithmetic::BF16)).c_str(),
      count(machine.peakOf(cost::Arithmetic::Int8)).c_str(), machine.ridge(cost::Arithmetic::F32)));
}

Json costJson(const OpCost &cost) {
  return {{"flops", cost.flops},
          {"weight_bytes", cost.weightBytes},
          {"activation_bytes", cost.activationBytes},
          {"kv_bytes", cost.kvBytes},
          {"intensity", cost.intensity()}};
}

Json phaseJson(const ExplainedModel &model, const Phase &phase) {
  Json ops = Json::array();
  for (const Row &row : phase.rows) {
    Json op = {{"name", row.name},
               {"kind", row.region->kind},
               {"count", row.count},
               {"arithmetic", cost::name(row.region->arithmetic)}};
    op.update(costJson(row.cost));
    op["bound"] = row.bindsMemory() ? "memory" : "arithmetic";
    op["seconds"] = row.seconds;
    ops.push_back(std::move(op));
  }
  Json total = costJson(phase.total);
  total["seconds"] = phase.seconds;
  total["memory_bound_seconds"] = phase.memoryBoundSeconds;
  const Memory memory = memoryOf(model, phase);
  return {{"phase", phase.name},
          {"rows", phase.shape.rows},
          {"sequences", phase.shape.sequences},
          {"outputs", phase.shape.outputs},
          {"context", phase.shape.context},
          {"ops", std::move(ops)},
          {"total", std::move(total)},
          {"memory",
           {{"weight_bytes", model.memory.weights},
            {"kv_bytes", memory.kv},
            {"kv_chunks", memory.chunks},
            {"activation_bytes", memory.arena},
            {"total_bytes", memory.total}}}};
}

void printJson(const ExplainedModel &model, const std::vector<Phase> &phases,
               const Machine &machine) {
  Json json = {{"schema", 1},
               {"model", model.path},
               {"machine",
                {{"name", machine.name},
                 {"about", machine.about},
                 {"read_bandwidth", machine.readBandwidth},
                 {"peak_f32", machine.peakOf(cost::Arithmetic::F32)},
                 {"peak_bf16", machine.peakOf(cost::Arithmetic::BF16)},
                 {"peak_int8", machine.peakOf(cost::Arithmetic::Int8)}}},
               {"phases", Json::array()}};
  for (const Phase &phase : phases)
    json["phases"].push_back(phaseJson(model, phase));
  print(json.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n");
}

Result<const Machine *> machineNamed(const std::string &name) {
  if (const Machine *machine = cost::findMachine(name))
    return machine;
  std::string known;
  for (const Machine &machine : cost::machines())
    known += (known.empty() ? "" : ", ") + std::string(machine.name);
  return errorAt("--machine", "", "found '" + escaped(name) + "', expected one of " + known);
}

} // namespace

Result<llm::StepShape> stepOf(const ExplainOptions &options, const std::string &phase,
                              uint32_t maxPositions) {
  const bool isPrefill = phase == "prefill";
  const int64_t room = maxPositions, asked = options.depth.value_or(0);
  int64_t fresh = phase == "verify" ? kVerifyTokens : 1;
  if (isPrefill)
    fresh = options.promptLength ? *options.promptLength
                                 : std::clamp<int64_t>(room - asked, 1, kDefaultPrompt);
  int64_t depth = asked;
  if (!options.depth && !isPrefill)
    depth = std::clamp<int64_t>(room - fresh, 0, kDefaultDepth);
  if (depth + fresh > int64_t(maxPositions))
    return errorAt(options.depth ? "--depth" : "--prompt-len", "",
                   "found " + std::to_string(depth) + " tokens and " + std::to_string(fresh) +
                       " new in " + phase + ", expected at most " + std::to_string(maxPositions) +
                       " in all; --max-seq sets the limit");
  llm::StepShape shape;
  shape.sequences = options.batch;
  shape.rows = fresh * shape.sequences;
  shape.outputs = phase == "verify" ? shape.rows : shape.sequences;
  shape.context = depth + fresh;
  return shape;
}

Status explain(const ExplainedModel &model, const ExplainOptions &options) {
  Result<const Machine *> machine = machineNamed(options.machine);
  if (!machine)
    return machine.takeError();
  std::vector<Phase> phases;
  for (const char *name : {"prefill", "decode", "verify"}) {
    if (!options.phase.empty() && options.phase != name)
      continue;
    Result<llm::StepShape> shape = stepOf(options, name, model.maxPositions);
    if (!shape)
      return shape.takeError();
    phases.push_back(makePhase(model, options, name, *shape, **machine));
  }
  if (options.json) {
    printJson(model, phases, **machine);
    return finishOutput();
  }
  print("model    " + escaped(model.path, 4096) + "\n");
  printMachine(**machine);
  for (const Phase &phase : phases)
    printPhase(phase);
  printMemory(model, phases);
  print(
      "\nTimes are bounds at the machine's ceilings, summed over ops: nothing is faster. x counts "
      "layers.\nMemory leaves out the engine's own tables, and that pages of KV are whole.\n");
  return finishOutput();
}

} // namespace llmc::tool
