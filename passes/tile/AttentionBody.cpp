// SPDX-License-Identifier: Apache-2.0
//
// Masks and the softmax of a chunk.
#include "passes/tile/AttentionBody.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

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
  if (attention.leavesParts() && parts != int64_t(attention.getParts()))
    return attention.emitError() << "expects a k_split of its " << int64_t(attention.getParts())
                                 << " parts, found " << parts;

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

Value AttentionBody::maskOf(Value last, int64_t keys) {
  auto asTile = [&](Value index) {
    Value narrow = arith::IndexCastOp::create(k.body, k.loc, k.body.getI32Type(), index);
    return k.broadcast(narrow, keys);
  };
  Value key = tile::IotaOp::create(k.body, k.loc, k.intTileType(keys));
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

Value AttentionBody::scalesOfCodes(tile::KVPart part, Value sequence, Value chunk, Value head, int64_t keys) {
  if (!kv.hasCodes())
    return {};
  return k.load(k.chunk(part, cache, sequence, chunk, head), k.index(0), keys);
}

/// Each step for all queries before the next: within one, instructions wait for each other.
SmallVector<ChunkWeights> AttentionBody::weightsOf(ArrayRef<Value> scores, ArrayRef<Value> masks) {
  int64_t keys = cast<RankedTensorType>(scores.front().getType()).getDimSize(0);
  SmallVector<ChunkWeights> of;
  for (auto [i, tile] : llvm::enumerate(scores)) {
    Value seen = tile;
    if (!masks.empty())
      seen = arith::SelectOp::create(k.body, k.loc, masks[i], tile, k.filled(keys, kEmptyMaximum));
    of.push_back({k.reduce(tile::Reduction::Greater, seen), Value(), seen});
  }
  for (auto [i, query] : llvm::enumerate(of)) {
    query.weights = math::ExpOp::create(k.body, k.loc, k.subf(query.weights, k.broadcast(query.maximum, keys)));
    // Without a window a row sees the first key of each chunk that it visits, so exp makes 0 of kEmpty.
    if (!masks.empty() && window > 0)
      query.weights = arith::SelectOp::create(k.body, k.loc, masks[i], query.weights, k.filled(keys, 0));
  }
  for (ChunkWeights &query : of)
    query.sum = k.reduce(tile::Reduction::Add, query.weights);
  return of;
}
