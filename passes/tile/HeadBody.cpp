// SPDX-License-Identifier: Apache-2.0
//
// Head-wise values as two halves of a head: q/k norm and rotation, from the row that the
// projections wrote.
#include "passes/tile/KernelBuilder.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

Value HeadBody::validOf(int64_t width) {
  int64_t half = width / 2;
  return half == powerOfTwoAbove(half) ? Value() : k.index(half);
}

HeadTiles HeadBody::tilesOf(Value value, Value row, Value head, int64_t width) {
  int64_t half = width / 2, padded = powerOfTwoAbove(half);
  Value valid = validOf(width);
  auto halves = [&](Value view, ValueRange line, Value low) {
    SmallVector<Value> at(line);
    at.push_back(low);
    Value first = k.load(view, at, padded, valid);
    at.back() = k.add(low, k.index(half));
    return HeadTiles{first, k.load(view, at, padded, valid)};
  };

  Operation *op = value.getDefiningOp();
  if (!op || op->getParentOp() != k.region)
    return halves(k.input(value), row, k.mul(head, width));
  if (isa<SplitOp>(op)) {
    PartOfRow part = partOfRow(k.region, value);
    return halves(k.input(part.row), row, k.add(k.mul(head, width), k.index(part.offset)));
  }
  if (auto norm = dyn_cast<RMSNormOp>(op)) {
    HeadTiles x = tilesOf(norm.getInput(), row, head, width);
    Value squares = k.fma(x.high, x.high, k.mulf(x.low, x.low));
    Value factor = k.broadcast(
        normFactor(k, k.reduce(tile::Reduction::Add, squares), width, norm.getEpsAttr()), padded);
    HeadTiles weight = halves(k.weight(norm.getWeightAttr()), {}, k.index(0));
    return {k.mulf(k.mulf(x.low, factor), weight.low), k.mulf(k.mulf(x.high, factor), weight.high)};
  }
  auto rope = cast<RopeOp>(op); // kernel kinds admit no other op
  HeadTiles x = tilesOf(rope.getInput(), row, head, width);
  HeadTiles turn =
      halves(k.weight(rope.getTableAttr()), k.read(tile::Field::Positions, row), k.index(0));
  Value low = k.subf(k.mulf(x.low, turn.low), k.mulf(x.high, turn.high));
  Value high = k.addf(k.mulf(x.high, turn.low), k.mulf(x.low, turn.high));
  return {low, high};
}
