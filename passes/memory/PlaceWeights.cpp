// SPDX-License-Identifier: Apache-2.0
//
// Gives weights their offsets in the packed file and caches theirs inside a chunk block.
#include "mlir/IR/Builders.h"
#include "passes/memory/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_PLACEWEIGHTSPASS
#include "MemoryPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

namespace {

constexpr int64_t kAlignment = 64;

struct PlaceWeightsPass : llmc::impl::PlaceWeightsPassBase<PlaceWeightsPass> {
  void runOnOperation() override {
    placeWeights();
    placeCaches();
  }

  void placeWeights() {
    int64_t offset = 0;
    for (auto weight : llvm::make_early_inc_range(getOperation().getOps<llm::WeightOp>())) {
      OpBuilder builder(weight);
      llm::WeightType type = weight.getType();
      int64_t bytes = int64_t(type.getBytes());
      auto i64 = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
      tile::PackedOp::create(builder, weight.getLoc(), weight.getSymNameAttr(), i64(type.getRows()),
                             i64(type.getColumns()), TypeAttr::get(type.getElementType()),
                             i64(type.getLayout().getPanelRows()),
                             i64(offset), i64(bytes), weight.getSourcesAttr(),
                             weight.getComputedAttr());
      offset = (offset + bytes + kAlignment - 1) / kAlignment * kAlignment;
      weight.erase();
    }
  }

  /// Launches name caches through tile.cache, whose type knows the size of a chunk block.
  void placeCaches() {
    int64_t offset = 0, block = 0;
    for (auto cache : getOperation().getOps<llm::CacheOp>())
      block += int64_t(cache.getType().getKeyBytes() + cache.getType().getValueBytes());
    for (auto cache : llvm::make_early_inc_range(getOperation().getOps<llm::CacheOp>())) {
      OpBuilder builder(cache);
      llm::KVCacheType type = cache.getType();
      auto kv = tile::KVType::get(&getContext(), type.getHeads(), type.getKey(), type.getValue(),
                                  type.getLayout() == llm::KVLayout::TokenMajor, block,
                                  type.getElement());
      tile::PlacedCacheOp::create(builder, cache.getLoc(), cache.getSymNameAttr(),
                                  TypeAttr::get(kv), builder.getI64IntegerAttr(offset));
      offset += int64_t(type.getKeyBytes() + type.getValueBytes());
      cache.erase();
    }
    if (block)
      getOperation()->setAttr(kChunkBytesAttrName, Builder(&getContext()).getI64IntegerAttr(block));
  }
};

} // namespace
