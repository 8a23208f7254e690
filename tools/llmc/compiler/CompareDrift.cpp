// SPDX-License-Identifier: Apache-2.0
//
// Undecided means: within a twentieth of a code of the middle, or the neighbouring bf16 number.
#include "tools/llmc/compiler/CompareDrift.h"
#include "tools/llmc/compiler/CompareBounds.h"
#include <cmath>

using namespace mlir;
using namespace llmc::reference;

namespace llmc::compare {

/// Of a step between codes. Sums in float may differ by 1e-4 of it; a fault in the rounding itself,
/// truncation say, moves half of all codes.
constexpr double kUndecided = 0.05;

Environment inputsOf(llm::FusedOp region, const llvm::DenseMap<Value, Tensor> &values) {
  Environment environment;
  region->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto found = values.find(operand); found != values.end())
        environment[operand] = found->second;
  });
  return environment;
}

Status Drift::evaluate(llm::FusedOp region, const Step &step) {
  environment = inputsOf(region, values);
  return interpreter.evaluate(region, environment, step, caches);
}

void Drift::meet(OpResult result, const Tensor &found) {
  auto region = cast<llm::FusedOp>(result.getOwner());
  Tensor own = environment.lookup(result);
  Value yielded =
      region.getBody().front().getTerminator()->getOperand(result.getResultNumber());
  if (auto rounding = yielded.getDefiningOp<llm::QuantizeOp>())
    takeCodes(rounding, own, found);
  else if (yielded.getDefiningOp<llm::LMHeadOp>())
    addDivergence(own, found);
  values[result] = std::move(own);
}

/// Takes what lies a neighbouring bf16 number off, and gives how many.
static uint64_t takeNeighbours(std::vector<float> &mine, const std::vector<float> &theirs) {
  constexpr double neighbour = 1.0 / 128; // the step between bf16 numbers, at most
  uint64_t taken = 0;
  for (size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
    const double apart = std::fabs(double(mine[i]) - theirs[i]);
    if (apart > 0 && apart <= neighbour * std::fabs(double(mine[i]))) {
      mine[i] = theirs[i];
      ++taken;
    }
  }
  return taken;
}

/// Takes neighbouring codes of undecided values, and gives how many.
static uint64_t takeNeighbouringCodes(std::vector<float> &mine, const std::vector<float> &theirs,
                                      const Tensor &undecided) {
  uint64_t taken = 0;
  for (size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
    const double apart = std::fabs(double(mine[i]) - theirs[i]), step = undecided.values[i];
    if (apart > 0.5 * step && apart < 1.5 * step) {
      mine[i] = theirs[i];
      ++taken;
    }
  }
  return taken;
}

void Drift::takeCodes(llm::QuantizeOp op, Tensor &own, const Tensor &found) {
  divergence.taken += takeNeighbouringCodes(
      own.values, found.values, undecidedSteps(environment.lookup(op.getInput()), kUndecided));
}

void Drift::meetRow(llm::KVAppendOp append, int64_t line, uint64_t sequence, int64_t slot,
                    const CachedRow &found) {
  const std::string cache = append.getCache().str();
  const CachedSequence *rows = caches.find(cache, sequence);
  auto entry = rows ? rows->find(slot) : CachedSequence::const_iterator();
  if (!rows || entry == rows->end())
    return;
  CachedRow own = entry->second;
  llm::KVCacheType type = append.getResult().getType();
  auto take = [&](std::vector<float> &mine, const std::vector<float> &theirs, Value source,
                  int64_t width) {
    if (!type.hasCodes()) {
      divergence.taken += takeNeighbours(mine, theirs);
      return;
    }
    Tensor exact(1, int64_t(mine.size()));
    std::copy_n(environment.find(source)->second.line(line), exact.width, exact.line(0));
    divergence.taken +=
        takeNeighbouringCodes(mine, theirs, undecidedSteps(exact, kUndecided, width));
  };
  take(own.key, found.key, append.getKey(), type.getKey());
  take(own.value, found.value, append.getValue(), type.getValue());
  caches.write(cache, sequence, slot, std::move(own));
}

static double logSumExp(const float *line, int64_t width) {
  double largest = line[0], sum = 0;
  for (int64_t i = 0; i < width; ++i)
    largest = std::max(largest, double(line[i]));
  for (int64_t i = 0; i < width; ++i)
    sum += std::exp(line[i] - largest);
  return largest + std::log(sum);
}

void Drift::addDivergence(const Tensor &own, const Tensor &found) {
  for (int64_t r = 0; r < own.lines; ++r) {
    const float *p = own.line(r), *q = found.line(r);
    const double pTotal = logSumExp(p, own.width), qTotal = logSumExp(q, own.width);
    double sum = 0;
    for (int64_t i = 0; i < own.width; ++i)
      sum += std::exp(p[i] - pTotal) * ((p[i] - pTotal) - (q[i] - qTotal));
    divergence.sum += sum;
    divergence.largest = std::max(divergence.largest, sum);
    ++divergence.rows;
  }
}

} // namespace llmc::compare
