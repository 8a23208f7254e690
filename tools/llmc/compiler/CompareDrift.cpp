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

void Drift::takeCodes(llm::QuantizeOp op, Tensor &own, const Tensor &found) {
  const Tensor steps = undecidedSteps(environment.lookup(op.getInput()), kUndecided);
  for (size_t i = 0; i < own.values.size(); ++i) {
    const double apart = std::fabs(double(own.values[i]) - found.values[i]), step = steps.values[i];
    if (apart > 0.5 * step && apart < 1.5 * step) {
      own.values[i] = found.values[i];
      ++divergence.taken;
    }
  }
}

void Drift::meetRow(const std::string &cache, uint64_t sequence, int64_t slot,
                    const CachedRow &found) {
  const CachedSequence *rows = caches.find(cache, sequence);
  auto entry = rows ? rows->find(slot) : CachedSequence::const_iterator();
  if (!rows || entry == rows->end())
    return;
  CachedRow own = entry->second;
  auto take = [&](std::vector<float> &mine, const std::vector<float> &theirs) {
    for (size_t i = 0; i < mine.size() && i < theirs.size(); ++i) {
      constexpr double neighbour = 1.0 / 128; // the step between bf16 numbers, at most
      const double apart = std::fabs(double(mine[i]) - theirs[i]);
      if (apart > 0 && apart <= neighbour * std::fabs(double(mine[i]))) {
        mine[i] = theirs[i];
        ++divergence.taken;
      }
    }
  };
  take(own.key, found.key);
  take(own.value, found.value);
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
