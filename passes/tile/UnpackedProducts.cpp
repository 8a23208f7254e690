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

  void over(Value panel, Value end, LinearProducts::Store store) {
    k.loop(k.index(0), end, block, {}, [&](Value base, ValueRange) {
      Value blockEnd = k.minimum(k.add(base, k.index(block)), end);
      if (whole)
        keep(base, blockEnd, {panel, k.index(0), k.index(count), true});
      if (whole > count)
        k.loop(k.index(count), k.index(whole), count, {}, [&](Value from, ValueRange) {
          keep(base, blockEnd, {panel, from, k.add(from, k.index(count)), false});
          return SmallVector<Value>();
        });
      finish(panel, base, blockEnd, store);
      return SmallVector<Value>();
    });
  }

private:
  bool waits() const { return whole > 0 || across < panelRows; }

  /// Some rows of a block of them, and groups of a panel.
  struct Rows {
    Value base, line;
    int64_t count;
  };
  struct Groups {
    Value panel, from, to;
    bool first;
  };

  void unpack(const Groups &of) {
    for (size_t p = 0; p < weights.size(); ++p)
      weights[p].unpack(unpacked[p], of.panel, of.from, of.to);
  }

  /// Where sums of projection `p` and row `m` of a tile wait.
  SmallVector<Value> place(const Rows &rows, size_t p, int64_t m, Value column) {
    Value first = k.mul(k.sub(rows.line, rows.base), int64_t(weights.size()));
    return {k.add(first, k.index(int64_t(p) * rows.count + m)), column};
  }

  /// [row] of one projection and one part of its panel's rows.
  SmallVector<Value> products(size_t p, Value part, const Rows &rows, const Groups &of) {
    SmallVector<Value> before(rows.count, k.filled(across, 0));
    for (int64_t m = 0; m < rows.count && !of.first; ++m)
      before[m] = k.load(waiting, place(rows, p, m, k.mul(part, across)), across);
    GroupPanels::Behind behind{of.panel, Value()};
    if (rows.count == tile) // else they are few
      behind.line = arith::MulIOp::create(k.body, k.loc, k.div(k.sub(rows.line, rows.base), tile),
                                          k.mul(k.sub(of.to, of.from), GroupPanels::kLinesAGroup));
    return weights[p].unpackedProducts(row, unpacked[p], part, linesFrom(k, rows.line, rows.count), of.from, of.to,
                                       before, behind);
  }

  void overTiles(Value base, Value end, llvm::function_ref<void(const Rows &rows)> body) {
    overRowTiles(k, base, end, tile, [&](Value line, int64_t count) { body({base, line, count}); });
  }

  /// Unpacks groups and puts their sums, on top of those before, aside. A part of the panel's rows
  /// stays in the nearest cache while all tiles of rows pass.
  void keep(Value base, Value end, const Groups &groups) {
    unpack(groups);
    for (size_t p = 0; p < weights.size(); ++p)
      k.loop(k.index(0), k.index(panelRows / across), 1, {}, [&](Value part, ValueRange) {
        overTiles(base, end, [&](const Rows &rows) {
          for (auto [m, sum] : llvm::enumerate(products(p, part, rows, groups)))
            k.store(sum, waiting, place(rows, p, int64_t(m), k.mul(part, across)));
        });
        return SmallVector<Value>();
      });
  }

  /// The last groups, and what leaves.
  void finish(Value panel, Value base, Value end, LinearProducts::Store store) {
    Groups last{panel, k.index(whole), k.index(groups), !whole};
    bool inParts = across < panelRows;
    if (inParts)
      keep(base, end, last);
    else
      unpack(last);
    overTiles(base, end, [&](const Rows &rows) {
      SmallVector<Value> sums;
      for (size_t p = 0; p < weights.size(); ++p)
        if (!inParts)
          llvm::append_range(sums, products(p, k.index(0), rows, last));
        else
          for (int64_t m = 0; m < rows.count; ++m)
            sums.push_back(k.load(waiting, place(rows, p, m, k.index(0)), panelRows));
      store(sums, linesFrom(k, rows.line, rows.count));
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

Value LinearProducts::rowsUnpacked(Value rows) {
  const int64_t tile = k.schedule.getRowTile();
  if (!unpacks())
    return k.index(0);
  Value few = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::ult, rows, k.index(splits() ? tile : 2 * tile));
  return arith::SelectOp::create(k.body, k.loc, few, k.index(0), rowsInTiles(k, rows, tile));
}

void LinearProducts::ofUnpacked(Value panel, Value rows, Store store) {
  UnpackedNest(k, projections, type).over(panel, rows, store);
}
