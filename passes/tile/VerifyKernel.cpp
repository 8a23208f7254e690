// SPDX-License-Identifier: Apache-2.0
//
// Greedy verification of a drafted chain, one program a sequence: arg-max of each output (lowest
// index on ties) against the token that was drafted for the next place.
#include "passes/graph/Regions.h"
#include "passes/tile/KernelBuilder.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

/// Index of the largest of `width` logits.
Value argMax(KernelBuilder &k, Value logits, Value line, int64_t width) {
  int64_t lanes = k.schedule.getLanes();
  auto intTile = [&](Value index) {
    return k.broadcast(arith::IndexCastOp::create(k.body, k.loc, k.body.getI32Type(), index),
                       lanes);
  };
  Value ramp = tile::IotaOp::create(k.body, k.loc, k.intTileType(lanes));
  Value lowest = k.filled(lanes, -std::numeric_limits<float>::infinity());
  Value none = intTile(k.index(width - 1));
  SmallVector<Value> best =
      k.columns(width, lanes, {lowest, none}, [&](Value column, Value valid, ValueRange carried) {
        Value x = k.load(logits, {line, column}, lanes, valid);
        Value at = arith::AddIOp::create(k.body, k.loc, ramp, intTile(column));
        if (valid) {
          Value real =
              arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::slt, ramp, intTile(valid));
          x = arith::SelectOp::create(k.body, k.loc, real, x, lowest);
        }
        Value better =
            arith::CmpFOp::create(k.body, k.loc, arith::CmpFPredicate::OGT, x, carried[0]);
        Value value = arith::SelectOp::create(k.body, k.loc, better, x, carried[0]);
        Value place = arith::SelectOp::create(k.body, k.loc, better, at, carried[1]);
        return SmallVector<Value>{value, place};
      });
  Value maximum = k.broadcast(k.reduce(tile::Reduction::Max, best[0]), lanes);
  Value equal = arith::CmpFOp::create(k.body, k.loc, arith::CmpFPredicate::OEQ, best[0], maximum);
  Value places = arith::SelectOp::create(k.body, k.loc, equal, best[1], none);
  return k.reduce(tile::Reduction::Min, places);
}

} // namespace

LogicalResult tiles::buildVerify(KernelBuilder &k) {
  auto verify = graph::findIn<SpeculativeVerifyOp>(k.region);
  for (Operation &op : k.region.getBody().front().without_terminator())
    if (!isa<SpeculativeVerifyOp>(op))
      return op.emitError() << "no verify kernel holds '" << op.getName() << "'";
  k.launch.extent = tile::Extent::Sequences;
  int64_t width = widthOf(verify.getLogits().getType());
  Value sequence = k.programId(tile::Axis::Line);
  Value logits = k.input(verify.getLogits());
  Value first = k.read(tile::Field::SequenceRow, sequence);
  Value end = k.read(tile::Field::SequenceRow, k.add(sequence, k.index(1)));
  Type i32 = k.body.getI32Type();
  Value zero = arith::ConstantOp::create(k.body, k.loc, k.body.getI32IntegerAttr(0));
  Value one = arith::ConstantOp::create(k.body, k.loc, k.body.getI32IntegerAttr(1));

  // Carried: accepted so far, 1 while the chain holds, the greedy choice after it, the choice
  // before this output.
  SmallVector<Value> chain =
      k.loop(first, end, 1, {zero, one, zero, zero}, [&](Value output, ValueRange carried) {
        Value token = arith::IndexCastOp::create(
            k.body, k.loc, i32,
            k.read(tile::Field::Tokens, k.read(tile::Field::OutputRows, output)));
        Value isFirst =
            arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::eq, output, first);
        Value agrees =
            arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::eq, token, carried[3]);
        Value accept = arith::ExtUIOp::create(k.body, k.loc, i32,
                                              arith::OrIOp::create(k.body, k.loc, isFirst, agrees));
        Value holds = arith::AndIOp::create(k.body, k.loc, carried[1], accept);
        Value counted = arith::SelectOp::create(k.body, k.loc, isFirst, zero, holds);
        Value accepted = arith::AddIOp::create(k.body, k.loc, carried[0], counted);
        Value choice = argMax(k, logits, output, width);
        Value holding = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::ne, holds, zero);
        Value next = arith::SelectOp::create(k.body, k.loc, holding, choice, carried[2]);
        return SmallVector<Value>{accepted, holds, next, choice};
      });
  Value target = k.output(verify.getResult());
  k.store(chain[0], target, {sequence, k.index(0)});
  k.store(chain[2], target, {sequence, k.index(1)});
  return success();
}
