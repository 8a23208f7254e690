// SPDX-License-Identifier: Apache-2.0
//
// Row-wise values tile by tile: the body that norms, residual sums, activations and gathers share
// in every kernel kind, be it a command of its own, the prologue of a linear or its epilogue.
#include "passes/tile/AttentionParts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

Value tiles::normFactor(KernelBuilder &k, Value sumOfSquares, int64_t width, FloatAttr eps) {
  Value mean = k.divf(sumOfSquares, k.scalar(double(width)));
  Value shifted = k.addf(mean, k.scalar(eps.getValueAsDouble()));
  return k.divf(k.scalar(1), math::SqrtOp::create(k.body, k.loc, shifted));
}

void RowBody::prepare(Value value, Value line) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentOp() != k.region || defined.count(value))
    return;
  Value inner = line;
  if (auto gather = dyn_cast<GatherRowsOp>(op))
    inner = k.read(tile::Field::OutputRows, line);
  for (Value operand : op->getOperands())
    prepare(operand, inner);
  auto norm = dyn_cast<RMSNormOp>(op);
  if (!norm)
    return;
  int64_t width = widthOf(norm.getInput().getType()), lanes = k.schedule.getLanes();
  Value sums = k.columns(width, lanes, k.filled(lanes, 0),
                         [&](Value column, Value valid, ValueRange carried) {
                           Value x = tileOf(norm.getInput(), line, column, lanes, valid);
                           return SmallVector<Value>{k.fma(x, x, carried.front())};
                         })
                   .front();
  factors[op] = normFactor(k, k.reduce(tile::Reduction::Add, sums), width, norm.getEpsAttr());
}

Value RowBody::tileOf(Value value, Value line, Value column, int64_t width, Value valid) {
  if (Value known = defined.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentOp() != k.region)
    return k.load(k.input(value), {line, column}, width, valid);
  if (auto gather = dyn_cast<GatherRowsOp>(op))
    return tileOf(gather.getInput(), k.read(tile::Field::OutputRows, line), column, width, valid);
  if (auto embed = dyn_cast<EmbedOp>(op))
    return k.load(k.weight(embed.getTableAttr()), {k.read(tile::Field::Tokens, line), column},
                  width, valid);
  if (auto split = dyn_cast<SplitOp>(op)) {
    Value shifted = k.add(column, k.index(columnsBefore(cast<OpResult>(value))));
    return tileOf(split.getInput(), line, shifted, width, valid);
  }
  if (auto norm = dyn_cast<RMSNormOp>(op)) {
    Value x = tileOf(norm.getInput(), line, column, width, valid);
    Value scaled = k.mulf(x, k.broadcast(factors.lookup(op), width));
    return k.mulf(scaled, k.load(k.weight(norm.getWeightAttr()), column, width, valid));
  }
  if (auto add = dyn_cast<AddOp>(op))
    return k.addf(tileOf(add.getLhs(), line, column, width, valid),
                  tileOf(add.getRhs(), line, column, width, valid));
  if (auto merge = dyn_cast<AttentionMergeOp>(op))
    return mergedTile(k, merge, line, column, width);
  auto activation = cast<ActivateOp>(op); // kernel kinds admit no other op
  Value gate = activate(activation.getActivation(),
                        tileOf(activation.getGate(), line, column, width, valid));
  return k.mulf(gate, tileOf(activation.getUp(), line, column, width, valid));
}

Value RowBody::activate(Activation activation, Value x) {
  int64_t width = cast<RankedTensorType>(x.getType()).getDimSize(0);
  auto filled = [&](double value) { return k.filled(width, value); };
  switch (activation) {
  case Activation::SiLU: {
    Value exponential = math::ExpOp::create(k.body, k.loc, k.subf(filled(0), x));
    return k.divf(x, k.addf(filled(1), exponential));
  }
  case Activation::ReLU:
    return arith::MaximumFOp::create(k.body, k.loc, x, filled(0));
  case Activation::GELUTanh: {
    Value cube = k.mulf(k.mulf(x, x), x);
    Value inside = k.mulf(filled(0.7978845608028654), k.fma(filled(0.044715), cube, x));
    Value tanh = math::TanhOp::create(k.body, k.loc, inside);
    return k.mulf(k.mulf(filled(0.5), x), k.addf(filled(1), tanh));
  }
  case Activation::GELUErf: {
    Value erf = math::ErfOp::create(k.body, k.loc, k.mulf(x, filled(0.7071067811865476)));
    return k.mulf(k.mulf(filled(0.5), x), k.addf(filled(1), erf));
  }
  }
  return x;
}
