// SPDX-License-Identifier: Apache-2.0
//
// Hypotheses and how well they explain what was found: the squared distance that is left, relative
// to that of the reference.
#include "tools/llmc/compiler/CompareBlame.h"
#include "tools/llmc/Format.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace llmc::reference;
using llmc::tool::formatted;

namespace llmc::compare {
namespace {

/// A hypothesis counts when it leaves less than this; rounding noise of a difference just beyond
/// its bound leaves a percent.
constexpr double kExplained = 0.05;
/// Heads whose length differs by less than this were rotated, not scaled.
constexpr double kSameLength = 1e-5;
constexpr int kFitSteps = 4;

/// Tensors base + factor * direction, with a factor for each line and block of columns, or one for
/// all.
struct Family {
  Tensor base, direction;
  int64_t blocks = 1;
  bool perLine = true;
};

class Blamer {
public:
  Blamer(Interpreter &interpreter, const Evidence &evidence)
      : interpreter(interpreter), evidence(evidence) {
    expected = evidence.environment.lookup(evidence.value);
    collect(evidence.value);
    llm::FusedOp region = evidence.region;
    for (Operation &op : region.getBody().front().without_terminator())
      if (slice.contains(&op))
        ops.push_back(&op);
    total = distance(expected);
  }

  void run(Difference &difference) {
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case<llm::RMSNormOp, llm::LinearOp, llm::AddOp, llm::ActivateOp, llm::RopeOp>(
              [&](auto typed) { suspect(typed); });
    Operation *culprit = best < kExplained ? bestOp : mainOp();
    difference.op = culprit ? culprit->getName().getStringRef().str() : "";
    difference.why = best < kExplained ? bestWhy : "";
  }

private:
  /// The ops of the region that `value` depends on.
  void collect(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentOp() != evidence.region || !slice.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      collect(operand);
  }

  Operation *mainOp() const {
    for (Operation *op : llvm::reverse(ops))
      if (isa<llm::LinearOp, llm::LMHeadOp, llm::AttentionOp, llm::AttentionMergeOp, llm::SpeculativeVerifyOp,
              llm::RopeOp>(op))
        return op;
    return ops.empty() ? nullptr : ops.back();
  }

  double distance(const Tensor &predicted) const {
    double sum = 0;
    for (int64_t r = 0; r < expected.lines; ++r)
      for (int64_t c = 0; c < expected.width; ++c) {
        double d = double(evidence.found.line(r)[c]) - predicted.line(r)[c];
        sum += d * d;
      }
    return sum;
  }

  /// The value as the reference has it when `op` gives `result`.
  Tensor predict(Operation *op, Tensor result) {
    Environment environment = evidence.environment;
    environment[op->getResult(0)] = std::move(result);
    Caches none;
    for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
      if (slice.contains(next))
        if (!interpreter.evaluate(next, environment, evidence.step, none))
          return expected;
    return environment.lookup(evidence.value);
  }

  /// What `op` gives with other attributes.
  template <typename OpT> Tensor variant(OpT op, llvm::function_ref<void(OpT)> change) {
    Environment environment = evidence.environment;
    Caches none;
    OpBuilder builder(op);
    auto clone = cast<OpT>(builder.clone(*op));
    change(clone);
    bool done = interpreter.evaluate(clone, environment, evidence.step, none).ok();
    Tensor result =
        done ? environment.lookup(clone.getResult()) : evidence.environment.lookup(op.getResult());
    clone.erase();
    return result;
  }

  void consider(Operation *op, const std::string &why, const Tensor &result) {
    weigh(op, why, distance(predict(op, result)));
  }

  void weigh(Operation *op, const std::string &why, double left) {
    double share = total > 0 && std::isfinite(left) ? left / total : 1;
    if (share >= best)
      return;
    best = share;
    bestOp = op;
    bestWhy = why;
  }

  /// Fits the factors, which are 1 in the reference, by Newton's method; gives that of the worst
  /// line's first block.
  double fit(Operation *op, const Family &family, double &left);
  Tensor member(const Family &family, const std::vector<double> &factors) const;

  void suspect(llm::RMSNormOp norm);
  void suspect(llm::LinearOp linear);
  void suspect(llm::AddOp add);
  void suspect(llm::ActivateOp activate);
  void suspect(llm::RopeOp rope);
  double distanceFromAnyFunction(llm::ActivateOp activate) const;

  Interpreter &interpreter;
  const Evidence &evidence;
  Tensor expected;
  llvm::DenseSet<Operation *> slice;
  std::vector<Operation *> ops;
  double total = 0;
  double best = 1;
  Operation *bestOp = nullptr;
  std::string bestWhy;
};

Tensor Blamer::member(const Family &family, const std::vector<double> &factors) const {
  Tensor tensor = family.base;
  int64_t perBlock = tensor.width / family.blocks;
  for (int64_t r = 0; r < tensor.lines; ++r)
    for (int64_t c = 0; c < tensor.width; ++c)
      tensor.line(r)[c] +=
          float(factors[size_t(r * family.blocks + c / perBlock)] * family.direction.line(r)[c]);
  return tensor;
}

double Blamer::fit(Operation *op, const Family &family, double &left) {
  constexpr double kNudge = 1.0 / 64;
  size_t count = size_t(family.base.lines * family.blocks);
  std::vector<double> factors(count, 1);
  int64_t perBlock = expected.width / family.blocks;
  for (int step = 0; step < kFitSteps; ++step) {
    std::vector<double> nudged = factors;
    for (double &factor : nudged)
      factor += kNudge;
    Tensor here = predict(op, member(family, factors)), there = predict(op, member(family, nudged));
    std::vector<double> product(count), square(count);
    for (int64_t r = 0; r < expected.lines; ++r)
      for (int64_t c = 0; c < expected.width; ++c) {
        size_t unknown = family.perLine ? size_t(r * family.blocks + c / perBlock) : 0;
        double slope = (double(there.line(r)[c]) - here.line(r)[c]) / kNudge;
        product[unknown] += slope * (double(evidence.found.line(r)[c]) - here.line(r)[c]);
        square[unknown] += slope * slope;
      }
    for (size_t i = 0; i < count; ++i) {
      size_t unknown = family.perLine ? i : 0;
      if (square[unknown] > 0)
        factors[i] += product[unknown] / square[unknown];
    }
  }
  left = distance(predict(op, member(family, factors)));
  size_t most = 0;
  for (size_t i = 0; i < count; ++i)
    if (std::fabs(factors[i] - 1) > std::fabs(factors[most] - 1))
      most = i;
  return count ? factors[most] : 1;
}

void Blamer::suspect(llm::RMSNormOp norm) {
  Tensor result = evidence.environment.lookup(norm.getResult()),
         input = evidence.environment.lookup(norm.getInput());
  int64_t groups = int64_t(norm.getGroups());
  if (input.lines != result.lines || expected.lines != result.lines || expected.width % groups)
    return;
  double left = 0,
         factor = fit(norm, {Tensor(result.lines, result.width), result, groups, true}, left);
  weigh(norm,
        formatted("as if it gave %.7g times what it should, as with another eps or mean", factor),
        left);
  Tensor unweighted = input; // x / root mean square, without the weight
  int64_t width = input.width / groups;
  for (int64_t r = 0; r < input.lines; ++r)
    for (int64_t g = 0; g < groups; ++g) {
      float *x = unweighted.line(r) + g * width;
      double sum = 0;
      for (int64_t c = 0; c < width; ++c)
        sum += double(x[c]) * x[c];
      double scale = 1 / std::sqrt(sum / double(width) + norm.getEps().convertToFloat());
      for (int64_t c = 0; c < width; ++c)
        x[c] = float(x[c] * scale);
    }
  consider(norm, "as if its weight were left out", unweighted);
  consider(norm, "as if it were left out", input);
}

void Blamer::suspect(llm::LinearOp linear) {
  Tensor result = evidence.environment.lookup(linear.getResult());
  double left = 0,
         factor = fit(linear, {Tensor(result.lines, result.width), result, 1, false}, left);
  weigh(linear, formatted("as if it gave %.7g times what it should", factor), left);
  if (!linear.getBiasAttr())
    return;
  Tensor plain =
      variant<llm::LinearOp>(linear, [](llm::LinearOp clone) { clone.removeBiasAttr(); });
  Tensor bias = result;
  for (size_t i = 0; i < bias.values.size(); ++i)
    bias.values[i] -= plain.values[i];
  factor = fit(linear, {plain, bias, 1, false}, left);
  weigh(linear,
        formatted("as if it added %.4g times its bias", std::round(factor * 1e4) / 1e4 + 0.0),
        left);
}

/// The operand from outside the region is the residual row.
void Blamer::suspect(llm::AddOp add) {
  for (auto [outer, inner] :
       {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    Operation *source = outer.getDefiningOp();
    if (source && source->getParentOp() == evidence.region)
      continue;
    Tensor residual = evidence.environment.lookup(outer), rest = evidence.environment.lookup(inner);
    double left = 0, factor = fit(add, {rest, residual, 1, true}, left);
    weigh(add,
          formatted("as if it added %.4g times the residual row",
                    std::round(factor * 1e4) / 1e4 + 0.0),
          left);
    for (const auto &[value, other] : evidence.others) {
      auto region = value.getDefiningOp<llm::FusedOp>();
      if (value == outer || value.getType() != outer.getType() || !region ||
          region == evidence.region)
        continue;
      Tensor sum = rest;
      for (size_t i = 0; i < sum.values.size(); ++i)
        sum.values[i] += other.values[i];
      consider(add, "as if it added the result of " + region.getName().str() + " instead", sum);
    }
  }
}

void Blamer::suspect(llm::ActivateOp activate) {
  for (auto other : {llm::Activation::SiLU, llm::Activation::GELUTanh, llm::Activation::GELUErf,
                     llm::Activation::ReLU})
    if (other != activate.getActivation())
      consider(activate, "as if it were " + llm::stringifyActivation(other).str(),
               variant<llm::ActivateOp>(
                   activate, [&](llm::ActivateOp clone) { clone.setActivation(other); }));
  consider(activate, "as if it left out the activation", [&] {
    Tensor product = evidence.environment.lookup(activate.getGate()),
           up = evidence.environment.lookup(activate.getUp());
    for (size_t i = 0; i < product.values.size(); ++i)
      product.values[i] *= up.values[i];
    return product;
  }());
  if (activate.getResult() == evidence.value)
    weigh(activate, "as if it were another function of the gate",
          distanceFromAnyFunction(activate));
}

/// What is left when each element is foretold by the two with the next smaller and larger gates:
/// little where the result is some smooth function of the gate times the other factor, whatever the
/// function.
double Blamer::distanceFromAnyFunction(llm::ActivateOp activate) const {
  const Tensor gate = evidence.environment.lookup(activate.getGate()),
               up = evidence.environment.lookup(activate.getUp());
  std::vector<size_t> order;
  for (size_t i = 0; i < gate.values.size(); ++i)
    if (up.values[i] != 0)
      order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return gate.values[a] < gate.values[b]; });
  auto factor = [&](size_t i) { return double(evidence.found.values[i]) / up.values[i]; };
  double left = 0;
  for (size_t n = 1; n + 1 < order.size(); ++n) {
    size_t before = order[n - 1], here = order[n], after = order[n + 1];
    double span = double(gate.values[after]) - gate.values[before];
    double share = span > 0 ? (double(gate.values[here]) - gate.values[before]) / span : 0.5;
    double foretold = (factor(before) * (1 - share) + factor(after) * share) * up.values[here];
    left += (foretold - evidence.found.values[here]) * (foretold - evidence.found.values[here]);
  }
  return order.size() < 16 ? total : left; // too few to foretell anything
}

/// A rotation does not change the length of a head, whatever its angles and pairs.
void Blamer::suspect(llm::RopeOp rope) {
  if (rope.getResult() != evidence.value)
    return;
  int64_t heads = int64_t(rope.getHeads()), width = expected.width / heads;
  for (int64_t r = 0; r < expected.lines; ++r)
    for (int64_t h = 0; h < heads; ++h) {
      double is = 0, should = 0;
      for (int64_t c = h * width; c < (h + 1) * width; ++c) {
        is += double(evidence.found.line(r)[c]) * evidence.found.line(r)[c];
        should += double(expected.line(r)[c]) * expected.line(r)[c];
      }
      if (!(std::fabs(is - should) <= (kSameLength + evidence.rounding) * should))
        return;
    }
  weigh(rope, "as if it turned heads by other angles, or other pairs: their length is right", 0);
}

} // namespace

void blame(Interpreter &interpreter, const Evidence &evidence, Difference &difference) {
  if (evidence.found.values.empty()) // integers, or no line at all: nothing to fit
    difference.op = evidence.value.getDefiningOp()->getName().getStringRef().str();
  else
    Blamer(interpreter, evidence).run(difference);
}

} // namespace llmc::compare
