// SPDX-License-Identifier: Apache-2.0
// The formula.
#include "passes/cost/CostTerms.h"
#include <algorithm>

namespace llmc::cost {

using llm::OpCost;
using llm::StepShape;

bool operator==(const OpCost &left, const OpCost &right) {
  return left.flops == right.flops && left.weightBytes == right.weightBytes &&
         left.activationBytes == right.activationBytes && left.kvBytes == right.kvBytes;
}

bool operator==(const CostTerms &left, const CostTerms &right) {
  return left.fixed == right.fixed && left.perRow == right.perRow &&
         left.perOutput == right.perOutput && left.perSequence == right.perSequence &&
         left.perKey == right.perKey && left.perContext == right.perContext &&
         left.window == right.window;
}

static int64_t clipped(int64_t keys, int64_t window) {
  return window > 0 ? std::min(keys, window) : keys;
}

// Causal: the rows of a sequence are its last tokens, each sees itself and what is before it.
static double keysSeen(const StepShape &shape, int64_t window) {
  const int64_t sequences = std::max<int64_t>(1, shape.sequences);
  const int64_t fresh = std::max<int64_t>(1, shape.rows / sequences);
  const int64_t before = std::max<int64_t>(0, shape.context - fresh);
  double sum = 0;
  for (int64_t row = 0; row < fresh; ++row)
    sum += double(clipped(before + row + 1, window));
  return sum * double(shape.sequences);
}

static void add(OpCost &sum, const OpCost &term, double times) {
  sum += {term.flops * times, term.weightBytes * times, term.activationBytes * times,
          term.kvBytes * times};
}

OpCost costOf(const CostTerms &terms, const StepShape &shape) {
  OpCost cost = terms.fixed;
  add(cost, terms.perRow, double(shape.rows));
  add(cost, terms.perOutput, double(shape.outputs));
  add(cost, terms.perSequence, double(shape.sequences));
  add(cost, terms.perKey, keysSeen(shape, terms.window));
  const int64_t held = std::max<int64_t>(1, clipped(shape.context, terms.window));
  add(cost, terms.perContext, double(shape.sequences) * double(held));
  return cost;
}

} // namespace llmc::cost
