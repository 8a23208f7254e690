// SPDX-License-Identifier: Apache-2.0
//
// Linear kernels: one or two projections of a (normalised) row, with bias, residual sum or
// activated product on the way out, which may leave rounded. A program owns `panels` panels of the
// weight and goes over all rows, `row_tile` at a time: a CPU's nest, where the panel stays in cache.
// Every output has one chain of fused multiply-adds along K (times k_split, summed left to right),
// whatever the row tile, so all graphs agree to the bit.
#include "passes/tile/GroupPanels.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

constexpr int64_t kMostTogether = 4; // panels written out side by side
constexpr int64_t kTilesABlock = 16; // row tiles whose sums wait while parts of a panel are unpacked

/// A projection of the region: linear or lm_head.
struct Projection {
  Value input, result;
  FlatSymbolRefAttr weight, bias;
};

class LinearKernel {
public:
  explicit LinearKernel(KernelBuilder &k) : k(k) {}

  LogicalResult build() {
    if (failed(collect()))
      return failure();
    WeightType weight = lookupWeight(k.region, projections.front().weight).getType();
    panelRows = weight.getLayout().getPanelRows();
    inGroups = bool(weight.getGroups());
    columns = weight.getColumns();
    outputs = weight.getRows();
    if (leaving != yielded && panelRows != GroupType::kGroup)
      return k.region.emitError() << "expects panels of " << GroupType::kGroup
                                  << " rows where the result is rounded in groups, found " << panelRows;
    kTile = std::min(k.schedule.getKTile() ? k.schedule.getKTile() : 8, columns);
    int64_t panels = llvm::divideCeil(outputs, panelRows),
            perProgram = std::min(k.schedule.getPanels(), panels);
    k.launch.inner = llvm::divideCeil(panels, perProgram);
    lineExtent =
        lineOf(yielded.getType()) == Line::Output ? tile::Extent::Outputs : tile::Extent::Rows;
    target = k.output(yielded);
    Value first = k.mul(k.programId(tile::Axis::Inner), perProgram);
    Value last =
        arith::MinUIOp::create(k.body, k.loc, k.add(first, k.index(perProgram)), k.index(panels));
    Value rows = k.extent(lineExtent), done = k.index(0);
    if (int64_t tile = k.schedule.getRowTile(); tile > 1) {
      bool unpacks = inGroups && weight.getGroups().getBits() < 8 &&
                     k.schedule.getKTile() >= GroupType::kGroup && k.schedule.getKSplit() == 1;
      k.loop(first, last, 1, {}, [&](Value panel, ValueRange) {
        overRowTiles(panel, unpacks ? overUnpacked(panel, rows, tile) : k.index(0), rows, tile);
        return SmallVector<Value>();
      });
      done = rowsInTiles(rows, tile);
    }
    overSingleRows(first, last, done, rows, perProgram, panels);
    return success();
  }

private:
  /// After tiles of `tile` rows come ever fewer, down to two.
  static int64_t nextTile(int64_t tile) { return int64_t(llvm::bit_floor(uint64_t(tile - 1))); }

  Value rowsInTiles(Value rows, int64_t tile) {
    Value done = k.index(0);
    for (; tile > 1; tile = nextTile(tile))
      done = k.add(done, k.mul(k.div(k.sub(rows, done), tile), tile));
    return done;
  }

  /// Whoever has few rows (a batch, drafted tokens) shares loaded weights too. At most one row is left.
  void overRowTiles(Value panel, Value from, Value rows, int64_t tile) {
    for (; tile > 1; tile = nextTile(tile)) {
      Value to = k.add(from, k.mul(k.div(k.sub(rows, from), tile), tile));
      k.loop(from, to, tile, {}, [&](Value row, ValueRange) {
        rowTile(panel, row, tile);
        return SmallVector<Value>();
      });
      from = to;
    }
  }

  /// Full row tiles, where there are two or more, by a panel unpacked once for all of them; `k_tile`
  /// columns at a time, so that it stays in cache. Sums wait in memory between two parts of a panel.
  /// Returns the first row that is left.
  Value overUnpacked(Value panel, Value rows, int64_t tile) {
    int64_t groups = columns / GroupType::kGroup,
            part = std::min(k.schedule.getKTile() / GroupType::kGroup, groups);
    int64_t whole = (groups - 1) / part * part; // groups before the last part
    std::vector<GroupPanels> weights;
    SmallVector<Value> memory;
    for (Projection &projection : projections) {
      weights.emplace_back(k, projection.weight);
      memory.push_back(weights.back().unpackedMemory(part));
    }
    Value few = arith::CmpIOp::create(k.body, k.loc, arith::CmpIPredicate::ult, rows, k.index(2 * tile));
    Value end = arith::SelectOp::create(k.body, k.loc, few, k.index(0), k.mul(k.div(rows, tile), tile));
    QuantizedRow row(k, k.input(projections.front().input), columns);
    int64_t block = whole ? kTilesABlock * tile : std::numeric_limits<int32_t>::max();
    int64_t sumRows = kTilesABlock * tile * int64_t(projections.size());
    Value waiting = whole ? k.scratch({sumRows, panelRows}, k.body.getF32Type()) : Value();

    // The products of one part with a tile of rows: `each` gets the sums of [projection][row].
    auto overTiles = [&](Value base, Value from, Value to, bool first,
                         llvm::function_ref<void(Value, ArrayRef<Value>)> each) {
      for (size_t p = 0; p < weights.size(); ++p)
        weights[p].unpack(memory[p], panel, from, to);
      k.loop(base, k.minimum(k.add(base, k.index(block)), end), tile, {}, [&](Value line, ValueRange) {
        SmallVector<Value> lines = linesFrom(line, tile), sums;
        for (size_t p = 0; p < weights.size(); ++p) {
          SmallVector<Value> before(tile, k.filled(panelRows, 0));
          for (int64_t m = 0; m < tile && !first; ++m)
            before[m] = k.load(waiting, {sumLine(k.sub(line, base), p, m), k.index(0)}, panelRows);
          llvm::append_range(sums, weights[p].unpackedProducts(row, memory[p], lines, from, to, before));
        }
        each(line, sums);
        return SmallVector<Value>();
      });
    };
    auto keep = [&](Value base) {
      return [&, base](Value line, ArrayRef<Value> sums) {
        for (auto [i, sum] : llvm::enumerate(sums))
          k.store(sum, waiting, {sumLine(k.sub(line, base), i / tile, i % tile), k.index(0)});
      };
    };
    k.loop(k.index(0), end, block, {}, [&](Value base, ValueRange) {
      if (whole) {
        overTiles(base, k.index(0), k.index(part), true, keep(base));
        if (whole > part)
          k.loop(k.index(part), k.index(whole), part, {}, [&](Value from, ValueRange) {
            overTiles(base, from, k.add(from, k.index(part)), false, keep(base));
            return SmallVector<Value>();
          });
      }
      overTiles(base, k.index(whole), k.index(groups), !whole, [&](Value line, ArrayRef<Value> sums) {
        SmallVector<Value> lines = linesFrom(line, tile);
        std::vector<RowBody> perRow(tile, RowBody(k));
        storePanel(panel, sums, tile, lines, perRow);
      });
      return SmallVector<Value>();
    });
    return end;
  }

  /// Where the sum of projection `p` and row `m` of the tile at `line` waits.
  Value sumLine(Value line, int64_t p, int64_t m) {
    return k.add(k.mul(line, int64_t(projections.size())), k.index(p * k.schedule.getRowTile() + m));
  }

  SmallVector<Value> linesFrom(Value first, int64_t count) {
    SmallVector<Value> lines;
    for (int64_t m = 0; m < count; ++m)
      lines.push_back(m ? k.add(first, k.index(m)) : first);
    return lines;
  }

  /// One row leaves registers free: groups take some panels of a program at a time, each a stream
  /// of its own; what is left goes one by one.
  void overSingleRows(Value first, Value last, Value from, Value rows, int64_t perProgram,
                      int64_t panels) {
    int64_t together = inGroups ? std::min(perProgram, kMostTogether) : 1;
    auto overPanels = [&](Value begin, Value end, int64_t step) {
      k.loop(begin, end, step, {}, [&](Value panel, ValueRange) {
        SmallVector<Value> streams;
        for (int64_t i = 0; i < step; ++i)
          streams.push_back(i ? k.add(panel, k.index(i)) : panel);
        k.loop(from, rows, 1, {}, [&](Value row, ValueRange) {
          rowTile(streams, row, 1);
          return SmallVector<Value>();
        });
        return SmallVector<Value>();
      });
    };
    Value single = first;
    if (together > 1) {
      single = k.add(first, k.mul(k.div(k.sub(last, first), together), together));
      overPanels(first, single, together);
    }
    if (together == 1 || panels % together || perProgram % together)
      overPanels(single, last, 1);
  }

  bool isProduct(Value value) const {
    return llvm::any_of(projections,
                        [&](const Projection &projection) { return projection.result == value; });
  }

  /// On the way out of the products every op is element-wise: a program has a panel's columns, not
  /// whole rows.
  LogicalResult checkOut(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getParentOp() != k.region || isProduct(value))
      return success();
    if (isa<RMSNormOp>(op))
      return op->emitError() << "no linear kernel holds a norm after the product: a program does "
                                "not have the whole row";
    if (auto split = dyn_cast<SplitOp>(op)) {
      Operation *source = split.getInput().getDefiningOp();
      if (source && source->getParentOp() == k.region)
        return op->emitError() << "no linear kernel holds a split of a row that '"
                               << source->getName() << "' computes in the region";
    }
    for (Value operand : op->getOperands())
      if (failed(checkOut(operand)))
        return failure();
    return success();
  }

  LogicalResult collect() {
    auto yield = k.region.getBody().front().getTerminator();
    for (Operation &op : k.region.getBody().front().without_terminator()) {
      if (auto linear = dyn_cast<LinearOp>(op))
        projections.push_back(
            {linear.getInput(), linear.getResult(), linear.getWeightAttr(), linear.getBiasAttr()});
      else if (auto head = dyn_cast<LMHeadOp>(op))
        projections.push_back(
            {head.getInput(), head.getResult(), head.getWeightAttr(), FlatSymbolRefAttr()});
      else if (!isa<RMSNormOp, AddOp, ActivateOp, SplitOp, QuantizeOp>(op))
        return op.emitError() << "no linear kernel holds '" << op.getName() << "'";
    }
    if (yield->getNumOperands() != 1)
      return k.region.emitError() << "expects one result of a linear region, found "
                                  << yield->getNumOperands();
    yielded = yield->getOperand(0);
    leaving = yielded;
    for (auto rounding : k.region.getBody().front().getOps<QuantizeOp>()) {
      if (rounding.getResult() != yielded)
        return rounding.emitError() << "no linear kernel goes on with a quantised row, expected it "
                                       "to be what the region yields";
      leaving = rounding.getInput();
    }
    if (projections.empty() || failed(checkOut(leaving)))
      return failure();
    for (Projection &projection : projections) {
      auto weight = lookupWeight(k.region, projection.weight);
      if (!weight.getType().getLayout().getPanelRows())
        return k.region.emitError()
               << "expects weight " << projection.weight << " in panels, found row-major";
      bool quantized =
          !cast<RankedTensorType>(projection.input.getType()).getElementType().isF32();
      if (bool(weight.getType().getGroups()) != quantized)
        return k.region.emitError()
               << "expects a quantised row for weight " << projection.weight
               << " in groups, found " << projection.input.getType()
               << ": run llmc-quantize-activations first";
      if (projection.input != projections.front().input ||
          weight.getType() != lookupWeight(k.region, projections.front().weight).getType())
        return k.region.emitError() << "expects projections of one input and one shape";
    }
    return success();
  }

  /// Some panels of every projection for `count` rows.
  void rowTile(ArrayRef<Value> panels, Value firstRow, int64_t count) {
    SmallVector<Value> lines = linesFrom(firstRow, count);
    std::vector<RowBody> perRow;
    perRow.reserve(count);
    for (Value line : lines) {
      perRow.emplace_back(k);
      if (!inGroups)
        perRow.back().prepare(projections.front().input, line);
    }

    SmallVector<Value> sums = products(panels, lines, perRow);
    for (auto [i, panel] : llvm::enumerate(panels))
      storePanel(panel, ArrayRef(sums).drop_front(i * lines.size()), panels.size() * lines.size(), lines, perRow);
  }

  /// What leaves the kernel of one panel; `sums` [projection][row], `stride` from one projection to
  /// the next.
  void storePanel(Value panel, ArrayRef<Value> sums, size_t stride, ArrayRef<Value> lines,
                  MutableArrayRef<RowBody> perRow) {
    Value column = k.mul(panel, panelRows);
    Value valid;
    if (outputs % panelRows)
      valid = k.sub(k.index(outputs), column);
    for (size_t m = 0; m < lines.size(); ++m) {
      for (auto [p, projection] : llvm::enumerate(projections)) {
        Value sum = sums[p * stride + m];
        if (projection.bias)
          sum = k.addf(sum, k.load(k.weight(projection.bias), column, panelRows, valid));
        perRow[m].define(projection.result, sum);
      }
      Value tile = perRow[m].tileOf(leaving, lines[m], column, panelRows, valid);
      if (leaving == yielded)
        k.store(tile, target, {lines[m], column}, valid);
      else
        QuantizedRow(k, target, outputs).store(tile, lines[m], panel); // a panel is a group
    }
  }

  /// Dot products [projection][panel][row]: k_split parts of K, summed left to right.
  SmallVector<Value> products(ArrayRef<Value> panels, ArrayRef<Value> lines,
                              MutableArrayRef<RowBody> rows) {
    int64_t steps = inGroups ? columns / GroupType::kGroup : columns;
    int64_t parts = std::min(k.schedule.getKSplit(), steps);
    int64_t perPart = llvm::divideCeil(steps, parts);
    SmallVector<Value> total;
    for (int64_t from = 0; from < steps; from += perPart) {
      int64_t to = std::min(steps, from + perPart);
      SmallVector<Value> part = inGroups ? groupProducts(panels, lines, from, to)
                                         : partialProducts(panels.front(), lines, rows, from, to);
      if (total.empty())
        total = part;
      else
        for (auto [sum, more] : llvm::zip(total, part))
          sum = k.addf(sum, more);
    }
    return total;
  }

  /// Groups from `from` to below `to`. One projection after the other: the sums of two would not
  /// fit into registers.
  SmallVector<Value> groupProducts(ValueRange panels, ValueRange lines, int64_t from, int64_t to) {
    Value row = projections.front().input;
    QuantizedRow quantized(k, k.input(row), widthOf(row.getType()));
    SmallVector<Value> sums;
    for (Projection &projection : projections)
      llvm::append_range(
          sums, GroupPanels(k, projection.weight).products(quantized, panels, lines, from, to));
    return sums;
  }

  SmallVector<Value> partialProducts(Value panel, ArrayRef<Value> lines,
                                     MutableArrayRef<RowBody> rows, int64_t from, int64_t to) {
    SmallVector<Value> sums(projections.size() * lines.size(), k.filled(panelRows, 0));
    int64_t full = from + (to - from) / kTile * kTile;
    auto dotAt = [&](Value column, int64_t width, ValueRange carried) {
      SmallVector<Value> tiles, next;
      for (auto [m, line] : llvm::enumerate(lines))
        tiles.push_back(rows[m].tileOf(projections.front().input, line, column, width));
      for (auto [p, projection] : llvm::enumerate(projections)) {
        Value view = k.weight(projection.weight);
        auto type = RankedTensorType::get({width, panelRows},
                                          cast<tile::ViewType>(view.getType()).getElementType());
        Value matrix = tile::LoadOp::create(k.body, k.loc, type, view,
                                            ValueRange{panel, column, k.index(0)}, Value());
        ValueRange before = carried.slice(p * lines.size(), lines.size());
        auto dot = tile::DotOp::create(k.body, k.loc, before.getTypes(), tiles, matrix, before,
                                       Value(), false, 1);
        llvm::append_range(next, dot.getResults());
      }
      return next;
    };
    if (full > from)
      sums =
          k.loop(k.index(from), k.index(full), kTile, sums,
                 [&](Value column, ValueRange carried) { return dotAt(column, kTile, carried); });
    if (full < to)
      sums = dotAt(k.index(full), to - full, sums);
    return sums;
  }

  KernelBuilder &k;
  SmallVector<Projection> projections;
  Value yielded, leaving, target; ///< what leaves the products is `leaving`, maybe rounded to `yielded`
  tile::Extent lineExtent = tile::Extent::Rows;
  int64_t panelRows = 0, columns = 0, outputs = 0, kTile = 0;
  bool inGroups = false; ///< of the weights, and so of the row
};

} // namespace

LogicalResult tiles::buildLinear(KernelBuilder &k) { return LinearKernel(k).build(); }
