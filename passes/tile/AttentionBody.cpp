// SPDX-License-Identifier: Apache-2.0
//
// Masks, the softmax of a chunk, and merges.
#include "passes/tile/AttentionBody.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

/// Below every score that a model can have, and finite: exp(kEmpty - kEmpty) must be 1, not NaN.
static constexpr double kEmpty = -1.0e30;
/// Query heads that one program takes: their results stay in registers, or nearly.
static constexpr int64_t kMostHeadsTogether = 8;

LogicalResult AttentionBody::prepare() {
  auto view = attention.getView().getDefiningOp<KVViewOp>();
  if (!view)
    return attention.emitError() << "expects its view inside the region";
  KVCacheType type = view.getCache().getType();
  Value origin = view.getCache();
  while (auto region = origin.getDefiningOp<FusedOp>())
    origin = region.getBody().front().getTerminator()->getOperand(
        cast<OpResult>(origin).getResultNumber());
  auto append = origin.getDefiningOp<KVAppendOp>();
  if (!append)
    return attention.emitError() << "expects a cache that llm.kv_append wrote";
  window = attention.getView().getType().getWindow();
  cache = k.cache(append.getCacheAttr(), type);
  kv = cast<tile::KVType>(cache.getType());
  PartOfRow part = partOfRow(
      k.region,
      attention.getQuery()); // q is a part of the merged projections where no rotation copies it
  if (Operation *source = part.row.getDefiningOp(); source && source->getParentOp() == k.region)
    return source->emitError() << "no attention kernel holds '" << source->getName() << "'";
  rows = k.input(part.row);
  firstColumn = part.offset;
  parts = k.schedule.getKSplit();

  int64_t share = int64_t(attention.getHeads()) / kv.getHeads();
  headsTogether = std::min(share, kMostHeadsTogether);
  while (share % headsTogether)
    --headsTogether;
  groups = int64_t(attention.getHeads()) / headsTogether;
  k.launch.extent = tile::Extent::Rows;
  k.launch.inner = groups;
  return success();
}

Value AttentionBody::query(Value row, Value head) {
  int64_t width = kv.getKey();
  Value column = k.add(k.mul(head, width), k.index(firstColumn));
  return k.mulf(k.load(rows, {row, column}, width),
                k.filled(width, attention.getScale().convertToDouble()));
}

Span AttentionBody::spanOf(Value position, Value part) {
  Value own = k.div(position, kKeys), begin = k.index(0), end = k.add(own, k.index(1));
  if (window > 0) {
    Value first = k.sub(k.mul(own, kKeys), k.index(window - 1));
    begin = k.div(arith::MaxSIOp::create(k.body, k.loc, first, k.index(0)), kKeys);
  }
  if (parts == 1)
    return {begin, end};
  Value each = k.div(k.add(k.sub(end, begin), k.index(parts - 1)), parts);
  Value from = k.minimum(k.add(begin, arith::MulIOp::create(k.body, k.loc, part, each)), end);
  return {from, k.minimum(k.add(from, each), end)};
}

Value AttentionBody::maskOf(Value last) {
  auto asTile = [&](Value index) {
    Value narrow = arith::IndexCastOp::create(k.body, k.loc, k.body.getI32Type(), index);
    return k.broadcast(narrow, kKeys);
  };
  Value key = tile::IotaOp::create(k.body, k.loc, k.intTileType(kKeys));
  Value seen = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::sle, key, asTile(last));
  if (window == 0)
    return seen;
  Value before = k.sub(last, k.index(window));
  Value inside =
      arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::sgt, key, asTile(before));
  return arith::AndIOp::create(k.body, k.loc, seen, inside);
}

/// Values beyond a row's own may be junk, even NaN, which a weight of 0 does not hide.
Value AttentionBody::valuesSeen(Value last) {
  Value count = arith::MinSIOp::create(k.body, k.loc, k.add(last, k.index(1)), k.index(kKeys));
  if (window == 0)
    return count;
  Value passed = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::sge, last,
                                       k.index(window + kKeys - 1));
  return arith::SelectOp::create(k.body, k.loc, passed, k.index(0), count);
}

ChunkWeights AttentionBody::weightsOf(Value scores, Value mask) {
  Value seen = scores;
  if (mask)
    seen = arith::SelectOp::create(k.body, k.loc, mask, scores, k.filled(kKeys, kEmpty));
  Value maximum = k.reduce(tile::Reduction::Greater, seen);
  Value weights = math::ExpOp::create(k.body, k.loc, k.subf(seen, k.broadcast(maximum, kKeys)));
  // Without a window a row sees the first key of each chunk that it visits, so exp makes 0 of kEmpty.
  if (mask && window > 0)
    weights = arith::SelectOp::create(k.body, k.loc, mask, weights, k.filled(kKeys, 0));
  return {maximum, k.reduce(tile::Reduction::Add, weights), weights};
}

/// exp(own maximum - common maximum) for each side; one of the two is 1. Of numbers, or of tiles of
/// many queries.
MergeScales AttentionBody::scalesOf(Value first, Value second) {
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

Value AttentionBody::mergedOutput(const MergeScales &scales, Value first, Value second) {
  int64_t width = kv.getValue();
  return k.fma(first, k.broadcast(scales.first, width),
               k.mulf(second, k.broadcast(scales.second, width)));
}

Partial AttentionBody::merge(const Partial &first, const Partial &second) {
  MergeScales scales = scalesOf(first.maximum, second.maximum);
  return {scales.maximum, mergedSum(scales, first.sum, second.sum),
          mergedOutput(scales, first.output, second.output)};
}

Partial AttentionBody::empty() {
  return {k.scalar(kEmpty), k.scalar(0), k.filled(kv.getValue(), 0)};
}

Value AttentionBody::resultOf(const Partial &all) {
  return k.mulf(all.output, k.broadcast(k.divf(k.scalar(1), all.sum), kv.getValue()));
}
