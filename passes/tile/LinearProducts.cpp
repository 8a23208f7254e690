// SPDX-License-Identifier: Apache-2.0
//
// Tiles of rows by panels as they lie in memory.
#include "passes/tile/LinearProducts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

static constexpr int64_t kDefaultStep = 8; // columns, where the schedule says none
/// Bytes ahead in each panel of floats that a single row reads side by side; of groups it is twice as much (GroupPanels.cpp).
static constexpr int64_t kAheadSideBySide = 1536;

LinearProducts::LinearProducts(KernelBuilder &k, ArrayRef<Projection> projections)
    : k(k), projections(projections),
      type(lookupWeight(k.region, projections.front().weight).getType()) {}

/// What is left of rows that share loaded weights goes in ever smaller tiles, down to two.
static int64_t nextRowTile(int64_t tile) { return int64_t(llvm::bit_floor(uint64_t(tile - 1))); }

Value tiles::wholeTiles(KernelBuilder &k, Value from, Value to, int64_t tile) {
  return k.add(from, k.mul(k.div(k.sub(to, from), tile), tile));
}

void tiles::overRowTiles(KernelBuilder &k, Value from, Value to, int64_t tile, llvm::function_ref<void(Value line, int64_t count)> body) {
  for (; tile > 1; tile = nextRowTile(tile)) {
    Value end = wholeTiles(k, from, to, tile);
    k.loop(from, end, tile, {}, [&](Value line, ValueRange) {
      body(line, tile);
      return SmallVector<Value>();
    });
    from = end;
  }
}

Value tiles::rowsInTiles(KernelBuilder &k, Value rows, int64_t tile) {
  Value done = k.index(0);
  for (; tile > 1; tile = nextRowTile(tile))
    done = wholeTiles(k, done, rows, tile);
  return done;
}

SmallVector<Value> LinearProducts::of(ArrayRef<Value> panels, ArrayRef<Value> lines,
                                      MutableArrayRef<RowBody> rows) {
  int64_t steps = inGroups() ? type.getColumns() / GroupType::kGroup : type.getColumns();
  int64_t parts = std::min(k.schedule.getKSplit(), steps);
  int64_t perPart = llvm::divideCeil(steps, parts);
  SmallVector<Value> total;
  for (int64_t from = 0; from < steps; from += perPart) {
    int64_t to = std::min(steps, from + perPart);
    SmallVector<Value> part =
        inGroups() ? ofGroups(panels, lines, from, to) : ofFloats(panels, lines, rows, from, to);
    if (total.empty())
      total = part;
    else
      for (auto [sum, more] : llvm::zip(total, part))
        sum = k.addf(sum, more);
  }
  return total;
}

/// Groups from `from` to below `to`. One projection after the other: the sums of two would not fit
/// into registers.
SmallVector<Value> LinearProducts::ofGroups(ValueRange panels, ValueRange lines, int64_t from,
                                            int64_t to) {
  QuantizedRow row(k, k.input(projections.front().input), type.getColumns());
  SmallVector<Value> sums;
  for (Projection &projection : projections)
    llvm::append_range(sums, GroupPanels(k, projection.weight).products(row, panels, lines, from, to));
  return sums;
}

SmallVector<Value> LinearProducts::ofFloats(ArrayRef<Value> panels, ArrayRef<Value> lines,
                                            MutableArrayRef<RowBody> rows, int64_t from,
                                            int64_t to) {
  int64_t step = std::min(k.schedule.getKTile() ? k.schedule.getKTile() : kDefaultStep, type.getColumns());
  SmallVector<Value> sums(projections.size() * panels.size() * lines.size(), k.filled(panelRows(), 0));
  int64_t full = from + (to - from) / step * step;
  auto dotsAt = [&](Value column, int64_t width, ValueRange carried) {
    SmallVector<Value> tiles, next;
    for (auto [m, line] : llvm::enumerate(lines))
      tiles.push_back(rows[m].tileOf(projections.front().input, line, column, width));
    for (Projection &projection : projections)
      for (Value panel : panels) {
        Value view = k.weight(projection.weight);
        if (panels.size() > 1 && lines.size() == 1)
          k.prefetchAhead(view, {panel, column, k.index(0)}, kAheadSideBySide, width * panelRows());
        auto tile = RankedTensorType::get({width, panelRows()},
                                          cast<tile::ViewType>(view.getType()).getElementType());
        Value matrix = tile::LoadOp::create(k.body, k.loc, tile, view,
                                            ValueRange{panel, column, k.index(0)}, Value());
        ValueRange before = carried.slice(next.size(), lines.size());
        auto dot = tile::DotOp::create(k.body, k.loc, before.getTypes(), tiles, matrix, before,
                                       ValueRange(), false, 1);
        llvm::append_range(next, dot.getResults());
      }
    return next;
  };
  if (full > from)
    sums = k.loop(k.index(from), k.index(full), step, sums, [&](Value column, ValueRange carried) {
      return dotsAt(column, step, carried);
    });
  if (full < to)
    sums = dotsAt(k.index(full), to - full, sums);
  return sums;
}
