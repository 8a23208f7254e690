// SPDX-License-Identifier: Apache-2.0
//
// The kernel between projections and attention: for one row, head by head, q/k norm and rotation; q
// goes to memory, k and v go to the row's slot of the cache.
#include "passes/graph/Regions.h"
#include "passes/tile/KernelBuilder.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

/// Heads of a head-wise value that leaves the region.
int64_t headsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto rope = dyn_cast_or_null<RopeOp>(op))
    return rope.getHeads();
  if (auto norm = dyn_cast_or_null<RMSNormOp>(op))
    return norm.getGroups();
  return 0;
}

/// Whether `value` can be computed a head of `width` elements at a time, down to rows that are in
/// memory.
LogicalResult checkHeads(KernelBuilder &k, Value value, int64_t width) {
  if (width % 2)
    return k.region.emitError() << "expects heads of even width, found " << width;
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentOp() != k.region)
    return success();
  Value input = op->getOperand(0);
  if (isa<SplitOp>(op)) {
    Operation *source = partOfRow(k.region, value).row.getDefiningOp();
    if (source && source->getParentOp() == k.region)
      return op->emitError() << "no head-wise kernel holds a split of a row that '"
                             << source->getName() << "' computes in the region";
    return success();
  }
  if (int64_t found = widthOf(value.getType()) / headsOf(value); found != width)
    return op->emitError() << "expects heads of " << width
                           << " elements, as its reader in the region has, found " << found;
  return checkHeads(k, input, width);
}

LogicalResult checkAppend(KernelBuilder &k, KVAppendOp append) {
  KVCacheType cache = append.getResult().getType();
  return failure(failed(checkHeads(k, append.getKey(), cache.getKey())) ||
                 failed(checkHeads(k, append.getValue(), cache.getValue())));
}

void storeHalves(KernelBuilder &k, HeadTiles tiles, Value view, ValueRange line, Value low,
                 int64_t width) {
  Value valid = HeadBody(k).validOf(width);
  SmallVector<Value> at(line);
  at.push_back(low);
  k.store(tiles.low, view, at, valid);
  at.back() = k.add(low, k.index(width / 2));
  k.store(tiles.high, view, at, valid);
}

void emitRows(KernelBuilder &k, Value value, Value row) {
  int64_t heads = headsOf(value), width = widthOf(value.getType()) / heads;
  Value target = k.output(value);
  k.loop(k.index(0), k.index(heads), 1, {}, [&](Value head, ValueRange) {
    storeHalves(k, HeadBody(k).tilesOf(value, row, head, width), target, row, k.mul(head, width),
                width);
    return SmallVector<Value>();
  });
}

/// A head as codes. The scale that they share is stored.
HeadTiles asCodes(KernelBuilder &k, HeadTiles tiles, Value scales, Value place) {
  Value low = sizesOf(k, tiles.low), high = sizesOf(k, tiles.high);
  CodeScale rounding = codeScale(k, arith::MaxSIOp::create(k.body, k.loc, low, high));
  k.store(rounding.scale, scales, place);
  low = codesOf(k, tiles.low, rounding);
  high = codesOf(k, tiles.high, rounding);
  return {asBytes(k, low), asBytes(k, high)};
}

void emitAppend(KernelBuilder &k, KVAppendOp append, Value row) {
  Value cache = k.cache(append.getCacheAttr(), append.getResult().getType());
  auto kv = cast<tile::KVType>(cache.getType());
  Value sequence = k.read(tile::Field::RowSequence, row), slot = k.read(tile::Field::Slots, row);
  Value chunk = k.div(slot, tile::KVType::kChunk), place = k.rem(slot, tile::KVType::kChunk);
  for (auto part : {tile::KVPart::Key, tile::KVPart::Value}) {
    bool isKey = part == tile::KVPart::Key;
    Value source = isKey ? append.getKey() : append.getValue();
    int64_t width = kv.getWidth(isKey);
    k.loop(k.index(0), k.index(kv.getHeads()), 1, {}, [&](Value head, ValueRange) {
      HeadTiles tiles = HeadBody(k).tilesOf(source, row, head, width);
      if (kv.hasCodes()) {
        auto scales = isKey ? tile::KVPart::KeyScale : tile::KVPart::ValueScale;
        tiles = asCodes(k, tiles, k.chunk(scales, cache, sequence, chunk, head), place);
      }
      storeHalves(k, tiles, k.chunk(part, cache, sequence, chunk, head), place, k.index(0), width);
      return SmallVector<Value>();
    });
  }
}

} // namespace

LogicalResult tiles::buildRopeAppend(KernelBuilder &k) {
  for (Operation &op : k.region.getBody().front().without_terminator())
    if (!isa<SplitOp, RMSNormOp, RopeOp, KVAppendOp>(op))
      return op.emitError() << "no head-wise kernel holds '" << op.getName() << "'";
  k.launch.extent = tile::Extent::Rows;
  Value row = k.programId(tile::Axis::Line);
  for (Value value : k.region.getBody().front().getTerminator()->getOperands()) {
    if (auto append = value.getDefiningOp<KVAppendOp>()) {
      if (failed(checkAppend(k, append)))
        return failure();
      emitAppend(k, append, row);
    } else if (int64_t heads = headsOf(value)) {
      if (failed(checkHeads(k, value, widthOf(value.getType()) / heads)))
        return failure();
      emitRows(k, value, row);
    } else {
      return k.region.emitError()
             << "expects a head-wise region to yield rotations, head norms or a cache";
    }
  }
  return success();
}
