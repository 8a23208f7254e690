// SPDX-License-Identifier: Apache-2.0
//
// One command at a time: run it, read what it wrote, evaluate its region on what the compiled side
// had written before.
#include "tools/llmc/compiler/CompareStep.h"
#include "tools/llmc/compiler/CompareBlame.h"
#include "tools/llmc/compiler/CompareBounds.h"
#include "passes/ViewOf.h"
#include <cstring>
#include <limits>

using namespace mlir;
using namespace llmc::reference;

namespace llmc::compare {
namespace {

/// Largest relative error of rounding to bf16.
constexpr double kBFloat16Unit = 1.0 / (1 << 8);
/// Of the length of a head that is rounded to codes: few elements are far larger than the rest.
constexpr double kCodeUnit = 1.0 / (1 << 6);

double roundingOf(const llmc_cache &cache) {
  return cache.element == LLMC_BF16 ? kBFloat16Unit : cache.element == LLMC_I8 ? kCodeUnit : 0;
}

/// The reference's step from the descriptor that kernels see.
Step stepOf(const llmc_step &from, const StepPlan &plan) {
  Step step;
  auto copy = [](const int32_t *values, size_t count) {
    return std::vector<int32_t>(values, values + count);
  };
  step.tokens = copy(from.tokens, from.n_rows);
  step.positions = copy(from.positions, from.n_rows);
  step.slots = copy(from.slots, from.n_rows);
  step.rowSequence = copy(from.row_sequence, from.n_rows);
  step.outputRows = copy(from.output_rows, from.n_outputs);
  step.sequenceRow = copy(from.sequence_row, size_t(from.n_sequences) + 1);
  for (uint32_t s = 0; s < from.n_sequences; ++s)
    step.sequences.push_back({plan.entries[s].sequence, from.sequence_base[s]});
  return step;
}

class StepComparer {
public:
  StepComparer(CompareState &state, const StepPlan &plan)
      : state(state), plan(plan), artifact(state.sides.artifact()) {}

  Result<std::vector<int32_t>> compare();

private:
  Status begin();
  Status compareCommand(uint32_t number);
  Status runCommand(uint32_t number);
  Tensor readResult(Value result, uint16_t operand);
  void judgeTensor(uint32_t number, OpResult result, Tensor found, const Environment &expected);
  void judgeAppend(uint32_t number, OpResult result, const PagesCopy &before,
                   const Environment &expected);
  /// Whether it is within its bound.
  bool judge(uint32_t number, const std::string &result, const Tensor &found,
             const Tensor &expected, Columns columns, double bound,
             const Tensor *tolerance = nullptr);
  Difference differenceAt(uint32_t number, const std::string &result) const;
  Result<std::vector<int32_t>> nextTokens();

  CommandPair &pairAt(uint32_t number) const {
    return state.sides.graphs[run.graph()].commands[number];
  }

  CompareState &state;
  const StepPlan &plan;
  const llmc_artifact &artifact;
  inspect::SteppedRun run;
  Step step;
  llvm::DenseMap<Value, Tensor> values; ///< results of regions as the compiled side wrote them
};

Status StepComparer::begin() {
  std::vector<llmc_rows> rows;
  for (const StepEntry &entry : plan.entries)
    rows.push_back({sizeof(llmc_rows), uint32_t(entry.tokens.size()),
                    state.sequences[entry.sequence], entry.tokens.data(), uint32_t(plan.outputs), 0,
                    nullptr});
  llmc_step_options options = {sizeof options, uint32_t(plan.graph)};
  tool::CallError error;
  if (run.begin(state.session, rows.data(), uint32_t(rows.size()), &options, error.raw()))
    return error.take();
  step = stepOf(run.step(), plan);
  return {};
}

Result<std::vector<int32_t>> StepComparer::compare() {
  if (Status begun = begin(); !begun)
    return begun.takeError();
  ++state.report.steps;
  if (state.drift)
    state.drift->beginStep();
  for (uint32_t number = 0; number < state.sides.graphs[run.graph()].commands.size(); ++number) {
    if (Status status = compareCommand(number); !status)
      return status.takeError();
    if (state.report.difference)
      return std::vector<int32_t>();
  }
  return nextTokens();
}

Status StepComparer::runCommand(uint32_t number) {
  tool::CallError error;
  if (run.run(number, number + 1, nullptr, nullptr, error.raw()))
    return error.take();
  ++state.report.commands;
  return {};
}

/// The values that quantised rows stand for (passes/ViewOf.h); NaN in a group whose sum is not that
/// of its codes, or whose product of scale and sum is not theirs, since the products rely on both.
static Tensor readQuantized(const void *from, int64_t lines, int64_t width) {
  constexpr int64_t group = llm::GroupType::kGroup;
  Tensor tensor(lines, width);
  for (int64_t r = 0; r < lines; ++r)
    for (int64_t g = 0; g < width / group; ++g) {
      auto *row = static_cast<const int32_t *>(from) + r * quantizedWords(width);
      auto *codes = reinterpret_cast<const int8_t *>(row) + g * group;
      float scale;
      std::memcpy(&scale, row + width / 4 + g, sizeof scale);
      int32_t sum = row[width / 4 + width / group + g];
      float scaledSum;
      std::memcpy(&scaledSum, row + width / 4 + 2 * (width / group) + g, sizeof scaledSum);
      bool wrong = scaledSum != scale * float(sum);
      for (int64_t i = 0; i < group; ++i) {
        tensor.line(r)[g * group + i] = scale * float(codes[i]);
        sum -= codes[i];
      }
      if (sum || wrong)
        std::fill_n(tensor.line(r) + g * group, group, std::numeric_limits<float>::quiet_NaN());
    }
  return tensor;
}

Tensor StepComparer::readResult(Value result, uint16_t operand) {
  llm::Line line = llm::lineOf(result.getType());
  int64_t lines = line == llm::Line::Row      ? step.rows()
                  : line == llm::Line::Output ? step.outputs()
                                              : int64_t(step.sequences.size());
  Tensor tensor;
  tensor.lines = lines;
  tensor.width = llm::widthOf(result.getType());
  const void *from = run.operandAddress(operand);
  if (isa<llm::GroupType>(cast<RankedTensorType>(result.getType()).getElementType()))
    return readQuantized(from, lines, tensor.width);
  size_t count = size_t(lines * tensor.width);
  if (cast<RankedTensorType>(result.getType()).getElementType().isF32())
    tensor.values.assign(static_cast<const float *>(from),
                         static_cast<const float *>(from) + count);
  else
    tensor.integers.assign(static_cast<const int32_t *>(from),
                           static_cast<const int32_t *>(from) + count);
  return tensor;
}

Status StepComparer::compareCommand(uint32_t number) {
  CommandPair &pair = pairAt(number);
  Environment environment = inputsOf(pair.region, values); // as the compiled side wrote them
  std::optional<PagesCopy> before;
  if (llvm::any_of(pair.region.getResultTypes(), llvm::IsaPred<llm::KVCacheType>))
    before.emplace(artifact, state.sequences);
  if (Status ran = runCommand(number); !ran)
    return ran;
  if (Status evaluated = state.interpreter.evaluate(pair.region, environment, step, state.caches);
      !evaluated)
    return evaluated;
  if (state.drift)
    if (Status evaluated = state.drift->evaluate(pair.region, step); !evaluated)
      return evaluated;
  size_t tensors = 0;
  for (OpResult result : pair.region->getResults()) {
    if (isa<llm::KVCacheType>(result.getType())) {
      judgeAppend(number, result, *before, environment);
    } else if (isa<RankedTensorType>(result.getType())) {
      Tensor found = readResult(result, pair.resultOperands[tensors++]);
      if (state.drift)
        state.drift->meet(result, found);
      judgeTensor(number, result, std::move(found), environment);
    }
    if (state.report.difference)
      return {};
  }
  return {};
}

Difference StepComparer::differenceAt(uint32_t number, const std::string &result) const {
  llm::FusedOp region = pairAt(number).region;
  Difference difference;
  difference.step = plan.name;
  difference.graph = state.sides.graphs[run.graph()].name;
  difference.number = number;
  difference.command = region.getName().str();
  difference.result = result;
  for (Operation &op : region.getBody().front().without_terminator())
    difference.ops += (difference.ops.empty() ? "" : ", ") + op.getName().getStringRef().str();
  return difference;
}

bool StepComparer::judge(uint32_t number, const std::string &result, const Tensor &found,
                         const Tensor &expected, Columns columns, double bound,
                         const Tensor *tolerance) {
  WorstElement worst =
      compareTensors(found, expected, columns, state.bound.value_or(bound), tolerance);
  CompareReport &report = state.report;
  double share = worst.bound > 0 ? worst.error / worst.bound : 0;
  if (share > report.largestShare && !worst.beyond) {
    report.largestShare = share;
    report.largestError = worst.error;
    report.itsBound = worst.bound;
    report.largestCommand = pairAt(number).region.getName().str();
  }
  if (worst.beyond && !report.difference) {
    report.difference = differenceAt(number, result);
    report.difference->worst = worst;
  }
  return !worst.beyond;
}

static Value yieldedAs(llm::FusedOp region, OpResult result) {
  return region.getBody().front().getTerminator()->getOperand(result.getResultNumber());
}

void StepComparer::judgeTensor(uint32_t number, OpResult result, Tensor found,
                               const Environment &expected) {
  llm::FusedOp region = pairAt(number).region;
  std::string name =
      region->getNumResults() > 1 ? "result " + std::to_string(result.getResultNumber()) : "result";
  const Tensor should = expected.lookup(result);
  std::optional<Tensor> tolerance;
  if (!state.bound && compareTensors(found, should, {0, found.width}, boundOf(region)).beyond)
    tolerance =
        toleranceOf(region, yieldedAs(region, result), expected, *state.sides.opened.weights);
  if (!judge(number, name, found, should, {0, found.width}, boundOf(region),
             tolerance ? &*tolerance : nullptr))
    blame(state.interpreter, {region, yieldedAs(region, result), found, expected, values, step},
          *state.report.difference);
  values[result] = std::move(found);
}

/// Lines of `a` with those of `b` after them.
static Tensor joined(const Tensor &a, const Tensor &b) {
  Tensor both(a.lines, a.width + b.width);
  for (int64_t r = 0; r < a.lines; ++r) {
    std::copy_n(a.line(r), a.width, both.line(r));
    std::copy_n(b.line(r), b.width, both.line(r) + a.width);
  }
  return both;
}

/// What lies in the pages against what the reference would have written, and that nothing else
/// there has changed.
void StepComparer::judgeAppend(uint32_t number, OpResult result, const PagesCopy &before,
                               const Environment &expected) {
  llm::FusedOp region = pairAt(number).region;
  auto append = yieldedAs(region, result).getDefiningOp<llm::KVAppendOp>();
  std::string name = append.getCache().str();
  uint32_t index = 0;
  while (index + 1 < artifact.n_caches && name != artifact.caches[index].name)
    ++index;
  const llmc_cache &cache = artifact.caches[index];
  int64_t width = int64_t(cache.kv_heads) * cache.key_width;
  Tensor should = joined(expected.lookup(append.getKey()), expected.lookup(append.getValue()));
  Tensor found = should, keys(found.lines, width);
  std::vector<std::pair<uint64_t, int64_t>> slots;
  for (int64_t r = 0; r < step.rows(); ++r) {
    uint64_t handle = step.sequences[size_t(step.rowSequence[size_t(r)])].handle;
    slots.push_back({handle, step.slots[size_t(r)]});
    CachedRow row = readRow(cache, state.sequences[handle], step.slots[size_t(r)]);
    std::copy(row.key.begin(), row.key.end(), keys.line(r));
    std::copy(row.key.begin(), row.key.end(), found.line(r));
    std::copy(row.value.begin(), row.value.end(), found.line(r) + width);
    if (state.drift && cache.element != LLMC_F32)
      state.drift->meetRow(append, r, handle, step.slots[size_t(r)], row);
    state.caches.write(name, handle, step.slots[size_t(r)], std::move(row));
  }
  Columns keyColumns = {0, width}, valueColumns = {width, found.width - width};
  double valueBound = 0; // copies
  auto undo = [&](Columns columns, int64_t width, double bound) {
    if (cache.element == LLMC_BF16)
      found = unrounded(std::move(found), should, columns, state.bound.value_or(bound));
    else if (cache.element == LLMC_I8)
      found = withoutCodes(std::move(found), should, columns, width, state.bound.value_or(bound));
  };
  undo(keyColumns, cache.key_width, boundOf(region));
  undo(valueColumns, cache.value_width, valueBound);
  bool keysRight =
      judge(number, "keys of " + name, found, should, keyColumns, boundOf(region));
  bool valuesRight =
      judge(number, "values of " + name, found, should, valueColumns, valueBound);
  std::optional<std::string> elsewhere = before.changedElsewhere(index, slots);
  if (keysRight && valuesRight && !elsewhere)
    return;
  if (!state.report.difference)
    state.report.difference = differenceAt(number, "memory that it must not write");
  Difference &difference = *state.report.difference;
  if (elsewhere)
    difference.notes.push_back("it has also written to " + *elsewhere);
  difference.op = append->getName().getStringRef().str();
  difference.why = elsewhere ? "as if it wrote to other slots" : "";
  if (!keysRight && valuesRight && !elsewhere)
    blame(state.interpreter,
          {region, append.getKey(), keys, expected, values, step, roundingOf(cache)},
          difference);
}

Result<std::vector<int32_t>> StepComparer::nextTokens() {
  llmc_step_result result = run.result();
  std::vector<int32_t> next;
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    int32_t last = result.output_starts[e + 1] - 1;
    if (last < result.output_starts[e]) {
      next.push_back(-1);
      continue;
    }
    Result<int32_t> token = tool::pickToken(state.sides.loaded, result, uint32_t(last));
    if (!token)
      return token.takeError();
    next.push_back(*token);
  }
  run.keep();
  return next;
}

} // namespace

Result<std::vector<int32_t>> compareStep(CompareState &state, const StepPlan &plan) {
  return StepComparer(state, plan).compare();
}

} // namespace llmc::compare
