// SPDX-License-Identifier: Apache-2.0
//
// Bounds in units of the last place (u = 2^-24). The reference computes in double and rounds once,
// so a bound is the kernel's own rounding. Clean runs of the golden models use at most 0.35 of one;
// SmolLM2-135M, whose massive activations cancel, 0.75, and in some elements needs the tolerance of
// their own partial sums.
#include "tools/llmc/compiler/CompareBounds.h"
#include "dialects/model/Quantize.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace llmc::compare {
namespace {

constexpr double kUnit = 1.0 / (1 << 24);

/// A chain of K fused multiply-adds rounds K times; errors of either sign add up as their square
/// root, and the partial sums that they are relative to grow alike. 4 is four times what chains of
/// random signs show.
double ofSum(int64_t terms) { return 4 + 4 * std::sqrt(double(terms)); }

/// Terms of a sum in floats: of groups, two for each, and as many roundings of what the
/// reference takes for the codes.
int64_t termsOf(Operation *op, FlatSymbolRefAttr weight) {
  llm::WeightOp found = llm::lookupWeight(op, weight);
  if (!found)
    return 1;
  int64_t columns = found.getType().getColumns();
  return found.getType().getGroups() ? 4 * columns / llm::GroupType::kGroup : columns;
}

} // namespace

static double largestOf(const float *values, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(double(values[i])));
  return largest;
}

reference::Tensor undecidedSteps(const reference::Tensor &row, double fromMiddle, int64_t group) {
  reference::Tensor steps(row.lines, row.width);
  for (size_t first = 0; first < row.values.size(); first += size_t(group)) {
    double scale = largestOf(row.values.data() + first, group) / 127;
    for (size_t i = first; i < first + size_t(group) && scale > 0; ++i) {
      double code = row.values[i] / scale, toMiddle = std::fabs(code - std::floor(code) - 0.5);
      steps.values[i] = toMiddle < fromMiddle ? float(scale) : 0;
    }
  }
  return steps;
}

double boundOf(Operation *op) {
  double units =
      llvm::TypeSwitch<Operation *, double>(op)
          .Case([](llm::RMSNormOp) {
            return 16.0;
          }) // squares in a tree of lanes, square root, division, two products
          .Case([](llm::QuantizeOp) { return 4.0; }) // of the scale; codes are another matter
          .Case(
              [](llm::LinearOp linear) { return ofSum(termsOf(linear, linear.getWeightAttr())); })
          .Case([](llm::LMHeadOp head) { return ofSum(termsOf(head, head.getWeightAttr())); })
          .Case([](llm::AddOp) { return 2.0; })
          .Case([](llm::ActivateOp) {
            return 64.0;
          }) // exponential of a gate: its rounding times the gate's size
          .Case([](llm::RopeOp) { return 8.0; }) // two products and a sum
          // Scores are sums over the width of a head; the exponential multiplies their rounding by
          // their size, some tens.
          .Case([](llm::AttentionOp attention) {
            return 16 * ofSum(attention.getView().getType().getCache().getKey());
          })
          .Case([](llm::AttentionMergeOp) { return 64.0; }) // exponentials of distances between maxima
          .Default([](Operation *) { return 0.0; }); // copies: not a bit may change
  return units * kUnit;
}

double boundOf(llm::FusedOp region) {
  double sum = 0;
  for (Operation &op : region.getBody().front().without_terminator())
    sum += boundOf(&op);
  return sum;
}

static double rootMeanSquare(const float *line, int64_t width) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i)
    sum += double(line[i]) * line[i];
  return width ? std::sqrt(sum / double(width)) : 0;
}

static double errorOf(float found, float expected, double scale) {
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return 0;
  double error = std::fabs(double(found) - expected) / (std::fabs(double(expected)) + scale);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

static WorstElement compareIntegers(const reference::Tensor &found,
                                    const reference::Tensor &expected) {
  WorstElement worst;
  worst.count = found.integers.size();
  for (size_t i = 0; i < found.integers.size(); ++i) {
    if (found.integers[i] == expected.integers[i])
      continue;
    if (worst.beyond++ == 0) {
      worst.error = std::numeric_limits<double>::infinity();
      worst.row = int64_t(i) / found.width;
      worst.column = int64_t(i) % found.width;
      worst.found = float(found.integers[i]);
      worst.expected = float(expected.integers[i]);
    }
  }
  return worst;
}

WorstElement compareTensors(const reference::Tensor &found, const reference::Tensor &expected,
                            Columns columns, double bound, const reference::Tensor *tolerance) {
  if (!expected.integers.empty() || !found.integers.empty())
    return compareIntegers(found, expected);
  WorstElement worst;
  worst.bound = bound;
  for (int64_t r = 0; r < expected.lines; ++r) {
    const float *is = found.line(r) + columns.first, *should = expected.line(r) + columns.first;
    double scale = rootMeanSquare(should, columns.width);
    for (int64_t c = 0; c < columns.width; ++c) {
      double error = errorOf(is[c], should[c], scale);
      ++worst.count;
      bool tolerated = tolerance && std::fabs(double(is[c]) - should[c]) <=
                                        tolerance->line(r)[columns.first + c];
      worst.beyond += error > bound && !tolerated;
      if (error > worst.error && !(error > bound && tolerated)) {
        worst.error = error;
        worst.row = r;
        worst.column = c;
        worst.found = is[c];
        worst.expected = should[c];
      }
    }
  }
  return worst;
}

reference::Tensor unrounded(reference::Tensor found, const reference::Tensor &expected,
                            Columns columns, double bound) {
  auto rounded = [](double value) {
    return model::fromBFloat16(model::toBFloat16(float(value)));
  };
  for (int64_t r = 0; r < expected.lines; ++r) {
    float *is = found.line(r) + columns.first;
    const float *should = expected.line(r) + columns.first;
    double scale = rootMeanSquare(should, columns.width);
    for (int64_t c = 0; c < columns.width; ++c) {
      double slack = bound * (std::fabs(double(should[c])) + scale);
      if (rounded(should[c] - slack) <= is[c] && is[c] <= rounded(should[c] + slack))
        is[c] = should[c];
    }
  }
  return found;
}

/// Elements of a head become the expected ones where codes of something within the bound of these
/// are what was found.
static void undoCodes(float *is, const float *should, int64_t width, double bound, double scale) {
  double largest = largestOf(should, width);
  double step = std::max(largest / 127, double(std::numeric_limits<float>::min()));
  // Of the scale, its inverse and the product, and what the number behind the scale may be off.
  double relative = 8 * kUnit + (largest > 0 ? bound * (1 + scale / largest) : 0);
  for (int64_t c = 0; c < width; ++c) {
    double code = should[c] / step;
    double slack = bound * (std::fabs(code) + scale / step) + std::fabs(code) * relative;
    double least = std::nearbyint(code - slack) * step, most = std::nearbyint(code + slack) * step;
    if (least - std::fabs(least) * relative <= is[c] && is[c] <= most + std::fabs(most) * relative)
      is[c] = should[c];
  }
}

reference::Tensor withoutCodes(reference::Tensor found, const reference::Tensor &expected,
                               Columns columns, int64_t width, double bound) {
  for (int64_t r = 0; r < expected.lines; ++r) {
    float *is = found.line(r) + columns.first;
    const float *should = expected.line(r) + columns.first;
    double scale = rootMeanSquare(should, columns.width);
    for (int64_t head = 0; head < columns.width; head += width)
      undoCodes(is + head, should + head, width, bound, scale);
  }
  return found;
}

/// Four times what the roundings of a chain of multiply-adds make, and what the rounding of its
/// input makes.
static std::optional<reference::Tensor> toleranceOfSum(Operation *op,
                                                       const reference::Environment &environment,
                                                       const model::WeightSource &source) {
  auto linear = dyn_cast_or_null<llm::LinearOp>(op);
  auto head = dyn_cast_or_null<llm::LMHeadOp>(op);
  if (!linear && !head)
    return std::nullopt;
  reference::Weights weights(source);
  auto matrix = weights.get(op, linear ? linear.getWeightAttr() : head.getWeightAttr());
  if (!matrix)
    return std::nullopt;
  const reference::Tensor x = environment.lookup(op->getOperand(0)),
                          y = environment.lookup(op->getResult(0));
  reference::Tensor tolerance(x.lines, (*matrix)->lines);
  for (int64_t r = 0; r < x.lines; ++r)
    for (int64_t n = 0; n < tolerance.width; ++n) {
      const float *row = x.line(r), *weight = (*matrix)->line(n);
      double sum = 0, partials = 0, terms = 0;
      for (int64_t k = 0; k < x.width; ++k) {
        double term = double(row[k]) * weight[k];
        sum += term;
        partials += sum * sum;
        terms += term * term;
      }
      tolerance.line(r)[n] = float(
          kUnit * (4 * std::sqrt(partials) + 16 * std::sqrt(terms) + 4 * std::fabs(y.line(r)[n])));
    }
  return tolerance;
}

/// Than a step, for the rounding of its scale.
static reference::Tensor aLittleMore(reference::Tensor steps) {
  for (float &step : steps.values)
    step *= 1.001f;
  return steps;
}

std::optional<reference::Tensor> toleranceOf(llm::FusedOp region, Value value,
                                             const reference::Environment &environment,
                                             const model::WeightSource &weights) {
  Operation *op = value.getDefiningOp();
  if (auto rounding = dyn_cast<llm::QuantizeOp>(op))
    return aLittleMore(
        undecidedSteps(environment.lookup(rounding.getInput()), 256 * boundOf(region)));
  if (auto add = dyn_cast<llm::AddOp>(op))
    for (Value operand : {add.getLhs(), add.getRhs()})
      if (Operation *inner = operand.getDefiningOp(); inner && inner->getParentOp() == region)
        return toleranceOfSum(inner, environment, weights);
  auto activate = dyn_cast<llm::ActivateOp>(op);
  if (!activate)
    return toleranceOfSum(op, environment, weights);
  auto gate = toleranceOfSum(activate.getGate().getDefiningOp(), environment, weights);
  auto up = toleranceOfSum(activate.getUp().getDefiningOp(), environment, weights);
  if (!gate || !up)
    return std::nullopt;
  const reference::Tensor gates = environment.lookup(activate.getGate()),
                          ups = environment.lookup(activate.getUp());
  for (size_t i = 0; i < gate->values.size();
       ++i) // no activation is steeper than 1.2, or larger than its gate
    gate->values[i] = 1.2f * gate->values[i] * std::fabs(ups.values[i]) +
                      up->values[i] * std::fabs(gates.values[i]);
  return gate;
}

} // namespace llmc::compare
