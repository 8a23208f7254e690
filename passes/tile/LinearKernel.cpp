// SPDX-License-Identifier: Apache-2.0
//
// Linear kernels: one or two projections of a (normalised) row, with bias, residual sum or
// activated product on the way out. A program owns `panels` panels of the weight and goes over all
// rows, `row_tile` at a time: a CPU's nest, where the panel stays in cache. Every output has one
// chain of fused multiply-adds along K (times k_split, summed left to right), whatever the row
// tile, so all graphs agree to the bit.
#include "passes/tile/GroupBody.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

constexpr int64_t kMostTogether = 4; // panels written out side by side

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
    // Groups: some panels of a program at a time, each a stream of its own; what is left one by one.
    int64_t together = inGroups ? std::min(perProgram, kMostTogether) : 1;
    Value single = first;
    if (together > 1) {
      single = k.add(first, k.mul(k.div(k.sub(last, first), together), together));
      overPanels(first, single, together);
    }
    if (together == 1 || panels % together || perProgram % together)
      overPanels(single, last, 1);
    return success();
  }

private:
  void overPanels(Value from, Value to, int64_t together) {
    k.loop(from, to, together, {}, [&](Value panel, ValueRange) {
      SmallVector<Value> panels;
      for (int64_t i = 0; i < together; ++i)
        panels.push_back(i ? k.add(panel, k.index(i)) : panel);
      overRows(panels);
      return SmallVector<Value>();
    });
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
      else if (!isa<RMSNormOp, AddOp, ActivateOp, SplitOp>(op))
        return op.emitError() << "no linear kernel holds '" << op.getName() << "'";
    }
    if (yield->getNumOperands() != 1)
      return k.region.emitError() << "expects one result of a linear region, found "
                                  << yield->getNumOperands();
    yielded = yield->getOperand(0);
    if (projections.empty() || failed(checkOut(yielded)))
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

  /// Full row tiles, then single rows.
  void overRows(ArrayRef<Value> panels) {
    int64_t tile = k.schedule.getRowTile();
    Value rows = k.extent(lineExtent);
    Value full = tile == 1 ? rows : k.mul(k.div(rows, tile), tile);
    auto body = [&](int64_t count) {
      return [&, count](Value row, ValueRange) {
        rowTile(panels, row, count);
        return SmallVector<Value>();
      };
    };
    k.loop(k.index(0), full, tile, {}, body(tile));
    if (tile > 1)
      k.loop(full, rows, 1, {}, body(1));
  }

  /// Some panels of every projection for `count` rows.
  void rowTile(ArrayRef<Value> panels, Value firstRow, int64_t count) {
    SmallVector<Value> lines;
    for (int64_t m = 0; m < count; ++m)
      lines.push_back(m ? k.add(firstRow, k.index(m)) : firstRow);
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
      k.store(perRow[m].tileOf(yielded, lines[m], column, panelRows, valid), target,
              {lines[m], column}, valid);
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
  Value yielded, target;
  tile::Extent lineExtent = tile::Extent::Rows;
  int64_t panelRows = 0, columns = 0, outputs = 0, kTile = 0;
  bool inGroups = false; ///< of the weights, and so of the row
};

} // namespace

LogicalResult tiles::buildLinear(KernelBuilder &k) { return LinearKernel(k).build(); }
