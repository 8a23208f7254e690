// SPDX-License-Identifier: Apache-2.0
//
// Tells every launch which earlier one must be complete before it: the last that touches the same
// bytes of an arena or the same cache, where one of the two writes. Weights are never written.
#include "mlir/IR/Builders.h"
#include "passes/graph/Regions.h"
#include "passes/memory/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_SETDEPENDENCIESPASS
#include "MemoryPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

namespace {

/// What one operand of a launch touches: bytes [begin, end) of a line of an arena, or a whole
/// cache.
struct Access {
  Attribute cache; ///< symbol; null for an arena
  tile::Extent arena = tile::Extent::Rows;
  int64_t begin = 0, end = 0;
  bool write = false;

  bool conflicts(const Access &other) const {
    if (!write && !other.write)
      return false;
    if (cache || other.cache)
      return cache == other.cache;
    return arena == other.arena && begin < other.end && other.begin < end;
  }
};

SmallVector<Access> accessesOf(tile::LaunchOp launch, tile::KernelOp kernel) {
  SmallVector<Access> accesses;
  for (auto [i, operand] : llvm::enumerate(launch.getOperands_())) {
    Access access;
    access.write = kernel.writes(unsigned(i) + 1);
    if (auto slice = operand.getDefiningOp<tile::SliceOp>()) {
      access.arena = slice.getArena();
      access.begin = int64_t(slice.getOffset());
      access.end = access.begin + slice.getResult().getType().getLineBytes();
    } else if (auto cache = operand.getDefiningOp<tile::CacheOp>()) {
      access.cache = cache.getCacheAttr();
    } else {
      continue;
    }
    accesses.push_back(access);
  }
  return accesses;
}

struct SetDependenciesPass : llmc::impl::SetDependenciesPassBase<SetDependenciesPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (FunctionOpInterface graph : graph::graphsOf(getOperation())) {
      SmallVector<SmallVector<Access>> earlier;
      for (auto launch : graph.getFunctionBody().front().getOps<tile::LaunchOp>()) {
        auto kernel = symbols.lookup<tile::KernelOp>(launch.getKernel());
        if (!kernel) {
          launch.emitError()
              << "expects @" << launch.getKernel()
              << " to be a tile.kernel still, since its stores tell what depends on it";
          return signalPassFailure();
        }
        SmallVector<Access> mine = accessesOf(launch, kernel);
        int64_t last = int64_t(earlier.size()) - 1;
        auto conflicts = [&](const Access &a) {
          return llvm::any_of(mine, [&](const Access &b) { return a.conflicts(b); });
        };
        while (last >= 0 && llvm::none_of(earlier[size_t(last)], conflicts))
          --last;
        launch.setDependency(last);
        earlier.push_back(std::move(mine));
      }
    }
  }
};

} // namespace
