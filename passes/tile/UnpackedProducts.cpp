// SPDX-License-Identifier: Apache-2.0
//
// Tiles of rows by panels that are unpacked once for all of them.
#include "passes/tile/LinearProducts.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

constexpr int64_t kTilesABlock = 16; // row tiles whose sums wait in memory

/// One panel of each projection, part by part of K and of its rows.
class UnpackedNest {
public:
  UnpackedNest(KernelBuilder &k, ArrayRef<Projection> projections, WeightType type)
      : k(k), tile(k.schedule.getRowTile()), panelRows(type.getLayout().getPanelRows()),
        row(k, k.input(projections.front().input), type.getColumns()) {
    groups = type.getColumns() / GroupType::kGroup;
    count = std::min(k.schedule.getKTile() / GroupType::kGroup, groups);
    whole = (groups - 1) / count * count;
    int64_t wish = k.schedule.getAcross();
    across = wish > 0 && panelRows % wish == 0 ? wish : panelRows;
    for (const Projection &projection : projections) {
      weights.emplace_back(k, projection.weight);
      unpacked.push_back(weights.back().unpackedMemory(count, across));
    }
    block = waits() ? kTilesABlock * tile : std::numeric_limits<int32_t>::max();
    if (waits())
      waiting = k.scratch({kTilesABlock * tile * int64_t(weights.size()), panelRows}, k.body.getF32Type());
  }

  Value over(Value panel, Value rows, LinearProducts::Store store) {
    Value few = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::ult, rows,
                                      k.index(across < panelRows ? tile : 2 * tile));
    Value end = arith::SelectOp::create(k.body, k.loc, few, k.index(0), k.mul(k.div(rows, tile), tile));
    k.loop(k.index(0), end, block, {}, [&](Value base, ValueRange) {
      Value blockEnd = k.minimum(k.add(base, k.index(block)), end);
      if (whole)
        keep(panel, base, blockEnd, k.index(0), k.index(count), true);
      if (whole > count)
        k.loop(k.index(count), k.index(whole), count, {}, [&](Value from, ValueRange) {
          keep(panel, base, blockEnd, from, k.add(from, k.index(count)), false);
          return SmallVector<Value>();
        });
      finish(panel, base, blockEnd, store);
      return SmallVector<Value>();
    });
    return end;
  }

private:
  bool waits() const { return whole > 0 || across < panelRows; }

  void unpack(Value panel, Value from, Value to) {
    for (size_t p = 0; p < weights.size(); ++p)
      weights[p].unpack(unpacked[p], panel, from, to);
  }

  /// Where `width` sums of projection `p` and row `m` of the tile at `line` wait.
  SmallVector<Value> place(Value line, Value base, size_t p, int64_t m, Value column) {
    Value first = k.mul(k.sub(line, base), int64_t(weights.size()));
    return {k.add(first, k.index(int64_t(p) * tile + m)), column};
  }

  /// [row] of one projection and one part of its panel's rows.
  SmallVector<Value> products(size_t p, Value part, Value line, Value base, Value from, Value to, bool first) {
    SmallVector<Value> before(tile, k.filled(across, 0));
    for (int64_t m = 0; m < tile && !first; ++m)
      before[m] = k.load(waiting, place(line, base, p, m, k.mul(part, across)), across);
    return weights[p].unpackedProducts(row, unpacked[p], part, linesFrom(k, line, tile), from, to, before);
  }

  void overTiles(Value base, Value end, llvm::function_ref<void(Value line)> body) {
    k.loop(base, end, tile, {}, [&](Value line, ValueRange) {
      body(line);
      return SmallVector<Value>();
    });
  }

  /// Unpacks groups and puts their sums, on top of those before, aside. A part of the panel's rows
  /// stays in the nearest cache while all tiles of rows pass.
  void keep(Value panel, Value base, Value end, Value from, Value to, bool first) {
    unpack(panel, from, to);
    for (size_t p = 0; p < weights.size(); ++p)
      k.loop(k.index(0), k.index(panelRows / across), 1, {}, [&](Value part, ValueRange) {
        overTiles(base, end, [&](Value line) {
          for (auto [m, sum] : llvm::enumerate(products(p, part, line, base, from, to, first)))
            k.store(sum, waiting, place(line, base, p, int64_t(m), k.mul(part, across)));
        });
        return SmallVector<Value>();
      });
  }

  /// The last groups, and what leaves.
  void finish(Value panel, Value base, Value end, LinearProducts::Store store) {
    Value from = k.index(whole), to = k.index(groups);
    bool inParts = across < panelRows;
    if (inParts)
      keep(panel, base, end, from, to, !whole);
    else
      unpack(panel, from, to);
    overTiles(base, end, [&](Value line) {
      SmallVector<Value> sums;
      for (size_t p = 0; p < weights.size(); ++p)
        if (!inParts)
          llvm::append_range(sums, products(p, k.index(0), line, base, from, to, !whole));
        else
          for (int64_t m = 0; m < tile; ++m)
            sums.push_back(k.load(waiting, place(line, base, p, m, k.index(0)), panelRows));
      store(sums, linesFrom(k, line, tile));
    });
  }

  KernelBuilder &k;
  const int64_t tile, panelRows;
  QuantizedRow row;
  int64_t groups = 0, count = 0, whole = 0; ///< of K; unpacked at a time; before the last part
  int64_t across = 0, block = 0;
  std::vector<GroupPanels> weights;
  std::vector<GroupPanels::Unpacked> unpacked;
  Value waiting;
};

} // namespace

bool LinearProducts::unpacks() const {
  return inGroups() && (type.getGroups().getBits() < 8 || splits()) && k.schedule.getRowTile() > 1 &&
         k.schedule.getKTile() >= GroupType::kGroup && k.schedule.getKSplit() == 1;
}

Value LinearProducts::ofUnpacked(Value panel, Value rows, Store store) {
  return UnpackedNest(k, projections, type).over(panel, rows, store);
}
