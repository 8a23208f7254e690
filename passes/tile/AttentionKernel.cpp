// SPDX-License-Identifier: Apache-2.0
//
// Attention: one program for each row and query head. Keys are reduced in chunks of 64 logical
// positions: every chunk yields its own (max, sum, output) from an empty state, and partials merge
// by a left fold in logical order, so the bits depend on the row's position alone. A chunk that is
// wholly masked would be the identity of the fold; such chunks are not visited.
#include "passes/graph/Regions.h"
#include "passes/tile/KernelBuilder.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

/// Below every score that a model can have, and finite: exp(kEmpty - kEmpty) must be 1, not NaN.
constexpr double kEmpty = -1.0e30;

/// Maximum, sum of exponentials, and their weighted sum of values.
struct Partial {
  Value maximum, sum, output;
};

class AttentionKernel {
public:
  AttentionKernel(KernelBuilder &k, AttentionOp attention) : k(k), attention(attention) {}

  LogicalResult build() {
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
    lanes = k.schedule.getLanes();
    while (kv.getKey() % lanes)
      lanes /= 2;

    int64_t heads = attention.getHeads();
    k.launch.extent = tile::Extent::Rows;
    k.launch.inner = heads;
    Value row = k.programId(tile::Axis::Line), head = k.programId(tile::Axis::Inner);
    sequence = k.read(tile::Field::RowSequence, row);
    position =
        k.sub(k.read(tile::Field::Positions, row), k.read(tile::Field::SequenceBase, sequence));
    kvHead = k.div(head, heads / kv.getHeads());
    PartOfRow part = partOfRow(
        k.region,
        attention.getQuery()); // q is a part of the merged projections where no rotation copies it
    if (Operation *source = part.row.getDefiningOp(); source && source->getParentOp() == k.region)
      return source->emitError() << "no attention kernel holds '" << source->getName() << "'";
    query = k.load(k.input(part.row), {row, k.add(k.mul(head, kv.getKey()), k.index(part.offset))},
                   kv.getKey());

    Partial all = overChunks();
    Value result = k.divf(all.output, k.broadcast(all.sum, kv.getValue()));
    k.store(result, k.output(attention.getResult()), {row, k.mul(head, kv.getValue())});
    return success();
  }

private:
  Partial overChunks() {
    Value firstChunk = k.index(0);
    if (window > 0) {
      Value first = k.sub(position, k.index(window - 1));
      first = arith::MaxSIOp::create(k.body, k.loc, first, k.index(0));
      firstChunk = k.div(first, tile::KVType::kChunk);
    }
    Value end = k.add(k.div(position, tile::KVType::kChunk), k.index(1));
    SmallVector<Value> empty{k.scalar(kEmpty), k.scalar(0), k.filled(kv.getValue(), 0)};
    SmallVector<Value> all = k.loop(firstChunk, end, 1, empty, [&](Value chunk, ValueRange state) {
      Partial merged = merge({state[0], state[1], state[2]}, ofChunk(chunk));
      return SmallVector<Value>{merged.maximum, merged.sum, merged.output};
    });
    return {all[0], all[1], all[2]};
  }

  Value chunkTile(tile::KVPart part, Value chunk) {
    Value place = k.chunk(part, cache, sequence, chunk, kvHead);
    auto type = RankedTensorType::get(
        {tile::KVType::kChunk, kv.getWidth(part == tile::KVPart::Key)}, kv.getElement());
    return tile::LoadOp::create(k.body, k.loc, type, place, ValueRange{k.index(0), k.index(0)},
                                Value());
  }

  /// Which keys of the chunk the row sees.
  Value maskOf(Value chunkStart) {
    auto asTile = [&](Value index) {
      Value narrow = arith::IndexCastOp::create(k.body, k.loc, k.body.getI32Type(), index);
      return k.broadcast(narrow, tile::KVType::kChunk);
    };
    Value key = tile::IotaOp::create(k.body, k.loc, k.intTileType(tile::KVType::kChunk));
    Value last = k.sub(position, chunkStart);
    Value seen = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::sle, key, asTile(last));
    if (window == 0)
      return seen;
    Value before = k.sub(last, k.index(window));
    Value inside =
        arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::sgt, key, asTile(before));
    return arith::AndIOp::create(k.body, k.loc, seen, inside);
  }

  Partial ofChunk(Value chunk) {
    constexpr int64_t kKeys = tile::KVType::kChunk;
    Value start = k.mul(chunk, kKeys), mask = maskOf(start);
    auto scores = tile::DotOp::create(k.body, k.loc, TypeRange{k.tileType(kKeys)}, query,
                                      chunkTile(tile::KVPart::Key, chunk),
                                      ValueRange{k.filled(kKeys, 0)}, Value(), true, lanes);
    Value scaled =
        k.mulf(scores.getResult(0), k.filled(kKeys, attention.getScale().convertToDouble()));
    scaled = arith::SelectOp::create(k.body, k.loc, mask, scaled, k.filled(kKeys, kEmpty));
    Value maximum = k.reduce(tile::Reduction::Max, scaled);
    Value weights = math::ExpOp::create(k.body, k.loc, k.subf(scaled, k.broadcast(maximum, kKeys)));
    weights = arith::SelectOp::create(k.body, k.loc, mask, weights, k.filled(kKeys, 0));
    Value sum = k.reduce(tile::Reduction::Add, weights);
    Value seen = k.add(k.sub(position, start), k.index(1)); // values beyond may be junk, even NaN
    seen = arith::MinSIOp::create(k.body, k.loc, seen, k.index(kKeys));
    auto output = tile::DotOp::create(k.body, k.loc, TypeRange{k.tileType(kv.getValue())}, weights,
                                      chunkTile(tile::KVPart::Value, chunk),
                                      ValueRange{k.filled(kv.getValue(), 0)}, seen, false, 1);
    return {maximum, sum, output.getResult(0)};
  }

  Partial merge(Partial a, Partial b) {
    Value maximum = arith::MaximumFOp::create(k.body, k.loc, a.maximum, b.maximum);
    Value scaleA = math::ExpOp::create(k.body, k.loc, k.subf(a.maximum, maximum));
    Value scaleB = math::ExpOp::create(k.body, k.loc, k.subf(b.maximum, maximum));
    Value sum = k.addf(k.mulf(a.sum, scaleA), k.mulf(b.sum, scaleB));
    int64_t width = kv.getValue();
    Value output = k.addf(k.mulf(a.output, k.broadcast(scaleA, width)),
                          k.mulf(b.output, k.broadcast(scaleB, width)));
    return {maximum, sum, output};
  }

  KernelBuilder &k;
  AttentionOp attention;
  tile::KVType kv;
  int64_t window = 0, lanes = 1;
  Value cache, sequence, position, kvHead, query;
};

} // namespace

LogicalResult tiles::buildAttention(KernelBuilder &k) {
  AttentionOp attention = graph::findIn<AttentionOp>(k.region);
  for (Operation &op : k.region.getBody().front().without_terminator())
    if (!isa<KVViewOp, AttentionOp, SplitOp>(op))
      return op.emitError() << "no attention kernel holds '" << op.getName() << "'";
  return AttentionKernel(k, attention).build();
}
