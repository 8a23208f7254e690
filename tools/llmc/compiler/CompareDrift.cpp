// SPDX-License-Identifier: Apache-2.0
//
// Undecided means: within a twentieth of a code of the middle, or the neighbouring bf16 number.
#include "tools/llmc/compiler/CompareDrift.h"
#include <cmath>

using namespace mlir;
using namespace llmc::reference;

namespace llmc::compare {

/// Of a step between codes. Sums in float may differ by 1e-4 of it; a fault in the rounding itself,
/// truncation say, moves half of all codes.
constexpr double kUndecided = 0.05;

Status Drift::evaluate(llm::FusedOp region, const Step &step) {
  environment.clear();
  region->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto found = values.find(operand); found != values.end())
        environment[operand] = found->second;
  });
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
  constexpr int64_t group = llm::GroupType::kGroup;
  const Tensor x = environment.lookup(op.getInput());
  for (size_t first = 0; first < own.values.size(); first += group) {
    double largest = 0;
    for (size_t i = first; i < first + group; ++i)
      largest = std::max(largest, std::fabs(double(x.values[i])));
    const double scale = largest / 127;
    for (size_t i = first; i < first + group && scale > 0; ++i) {
      const double code = x.values[i] / scale,
                   toMiddle = std::fabs(code - std::floor(code) - 0.5),
                   apart = std::fabs(double(own.values[i]) - found.values[i]) / scale;
      if (toMiddle < kUndecided && apart > 0.5 && apart < 1.5) {
        own.values[i] = found.values[i];
        ++divergence.taken;
      }
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
