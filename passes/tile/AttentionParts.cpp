// SPDX-License-Identifier: Apache-2.0
//
// Parts of a row's keys, and merges.
#include "passes/tile/AttentionParts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

Value AttentionParts::positionOf(Value row) {
  Value sequence = k.read(tile::Field::RowSequence, row);
  return k.sub(k.read(tile::Field::Positions, row), k.read(tile::Field::SequenceBase, sequence));
}

/// As firstChunkSeen has it.
Span AttentionParts::wholeSpan(Value position) {
  Value own = k.div(position, kKeys), begin = k.index(0);
  if (window > 0) {
    Value first = k.sub(k.mul(own, kKeys), k.index(window - 1));
    begin = k.div(arith::MaxSIOp::create(k.body, k.loc, first, k.index(0)), kKeys);
  }
  return {begin, k.add(own, k.index(1))};
}

/// As llm::chunksOfPart has it.
Value AttentionParts::chunksOfPart(const Span &whole) {
  Value even = k.div(k.add(k.sub(whole.end, whole.begin), k.index(parts - 1)), parts);
  return arith::MaxSIOp::create(k.body, k.loc, even, k.index(kLeastChunksOfPart));
}

Span AttentionParts::spanOf(Value position, Value part) {
  Span whole = wholeSpan(position);
  if (parts == 1)
    return whole;
  Value each = chunksOfPart(whole);
  Value from = k.minimum(k.add(whole.begin, arith::MulIOp::create(k.body, k.loc, part, each)), whole.end);
  return {from, k.minimum(k.add(from, each), whole.end)};
}

Value AttentionParts::countOf(Value position) {
  Span whole = wholeSpan(position);
  Value each = chunksOfPart(whole), chunks = k.sub(whole.end, whole.begin);
  return arith::DivUIOp::create(k.body, k.loc, k.add(chunks, k.sub(each, k.index(1))), each);
}

/// exp(own maximum - common maximum) for each side; one of the two is 1. Of numbers, or of tiles of
/// many queries.
MergeScales AttentionParts::scalesOf(Value first, Value second) {
  Value one = k.scalar(1);
  if (auto tile = dyn_cast<RankedTensorType>(first.getType()))
    one = k.filled(tile.getDimSize(0), 1);
  auto choose = [&](arith::CmpFPredicate how, Value a, Value b) -> Value {
    Value holds = arith::CmpFOp::create(k.body, k.loc, how, first, second);
    return arith::SelectOp::create(k.body, k.loc, holds, a, b);
  };
  Value maximum = choose(arith::CmpFPredicate::OGT, first, second);
  Value minimum = choose(arith::CmpFPredicate::OGT, second, first);
  Value less = math::ExpOp::create(k.body, k.loc, k.subf(minimum, maximum));
  return {maximum, choose(arith::CmpFPredicate::OGE, one, less),
          choose(arith::CmpFPredicate::OLE, one, less)};
}

Value AttentionParts::mergedOutput(const MergeScales &scales, Value first, Value second) {
  int64_t width = cast<RankedTensorType>(first.getType()).getDimSize(0);
  return k.fma(first, k.broadcast(scales.first, width),
               k.mulf(second, k.broadcast(scales.second, width)));
}

Partial AttentionParts::merge(const Partial &first, const Partial &second) {
  MergeScales scales = scalesOf(first.maximum, second.maximum);
  return {scales.maximum, mergedSum(scales, first.sum, second.sum),
          mergedOutput(scales, first.output, second.output)};
}

Partial AttentionParts::empty(int64_t width) {
  return {k.scalar(kEmptyMaximum), k.scalar(0), k.filled(width, 0)};
}

Value AttentionParts::resultOf(const Partial &all) {
  int64_t width = cast<RankedTensorType>(all.output.getType()).getDimSize(0);
  return k.mulf(all.output, k.broadcast(k.divf(k.scalar(1), all.sum), width));
}

/// The left fold that attention does itself where it does not leave parts.
Value tiles::mergedTile(KernelBuilder &k, AttentionMergeOp merge, Value line, Value column, int64_t width) {
  const PartialRow at = merge.getPartialRow();
  AttentionParts of(k);
  of.window = int64_t(merge.getWindow());
  of.parts = at.parts;
  Value row = k.input(merge.getInput()), head = k.div(column, at.value), within = k.rem(column, at.value);
  Partial start = of.empty(width);
  auto all = k.loop(k.index(0), of.countOf(of.positionOf(line)), 1, {start.maximum, start.sum, start.output},
                    [&](Value part, ValueRange state) {
                      Value index = k.add(k.mul(part, at.heads), head);
                      auto number = [&](int64_t list) { return k.loadScalar(row, {line, k.add(index, k.index(list))}); };
                      Partial next = {number(at.maxima()), number(at.sums()),
                                      k.load(row, {line, k.add(k.mul(index, at.value), within)}, width)};
                      Partial sum = of.merge({state[0], state[1], state[2]}, next);
                      return SmallVector<Value>{sum.maximum, sum.sum, sum.output};
                    });
  return of.resultOf({all[0], all[1], all[2]});
}
