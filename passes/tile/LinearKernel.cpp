// SPDX-License-Identifier: Apache-2.0
//
// Linear kernels: one or two projections of a (normalised) row, with bias, residual sum or
// activated product on the way out, which may leave rounded. A program owns `panels` panels of the
// weight and goes over all rows, `row_tile` at a time: a CPU's nest, where the panel stays in cache.
// Every output has one chain of fused multiply-adds along K (times k_split, summed left to right),
// whatever the row tile, so all graphs agree to the bit.
#include "passes/tile/LinearProducts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

constexpr int64_t kMostTogether = 4; // panels written out side by side

class LinearKernel {
public:
  explicit LinearKernel(KernelBuilder &k) : k(k) {}

  LogicalResult build() {
    if (failed(collect()))
      return failure();
    LinearProducts made(k, projections);
    products = &made;
    if (leaving != yielded && products->panelRows() != GroupType::kGroup)
      return k.region.emitError() << "expects panels of " << GroupType::kGroup
                                  << " rows where the result is rounded in groups, found "
                                  << products->panelRows();
    int64_t tile = k.schedule.getRowTile();
    lineExtent =
        lineOf(yielded.getType()) == Line::Output ? tile::Extent::Outputs : tile::Extent::Rows;
    target = k.output(yielded);
    auto [first, last] = panelsOfProgram();
    Value rows = k.extent(lineExtent), done = k.index(0);
    if (tile > 1 && (products->unpacks() || !products->splits())) {
      Value unpacked = products->rowsUnpacked(rows);
      k.loop(first, last, 1, {}, [&](Value panel, ValueRange) {
        if (products->unpacks())
          overUnpacked(panel, unpacked);
        if (!products->splits())
          // Whoever has few rows (a batch, drafted tokens) shares loaded weights too.
          overRowTiles(k, unpacked, rows, tile, [&](Value row, int64_t count) { rowTile(panel, row, count); });
        return SmallVector<Value>();
      });
      done = products->splits() ? unpacked : rowsInTiles(k, rows, tile);
    }
    overSingleRows(first, last, done, rows);
    return success();
  }

private:
  /// `panels` of them each; at the end ever fewer, so that threads that claim programs in order end
  /// together: of 28 panels 4 4 4 4 4 4 2 1 1.
  std::pair<Value, Value> panelsOfProgram() {
    int64_t panels = llvm::divideCeil(products->outputs(), products->panelRows()),
            most = std::min(k.schedule.getPanels(), panels), half = std::max<int64_t>(most / 2, 1);
    int64_t full = most > 1 && panels > most ? (panels - most) / most : panels / most;
    int64_t rest = panels - full * most, ones = rest ? (rest - 1) % half + 1 : 0,
            halves = (rest - ones) / half;
    k.launch.inner = full + halves + ones;
    Value program = k.programId(tile::Axis::Inner);
    if (!rest) {
      Value first = k.mul(program, most);
      return {first, k.add(first, k.index(most))};
    }
    // What the programs before this one, and it too, have: of each size.
    auto before = [&](Value count) {
      auto within = [&](int64_t from, int64_t size) {
        Value above = arith::MaxSIOp::create(k.body, k.loc, k.sub(count, k.index(from)), k.index(0));
        return arith::MinSIOp::create(k.body, k.loc, above, k.index(size)).getResult();
      };
      Value sum = k.add(k.mul(within(0, full), most), k.mul(within(full, halves), half));
      return k.add(sum, within(full + halves, ones));
    };
    return {before(program), before(k.add(program, k.index(1)))};
  }

  void overUnpacked(Value panel, Value rows) {
    products->ofUnpacked(panel, rows, [&](ArrayRef<Value> sums, ArrayRef<Value> lines) {
      std::vector<RowBody> perRow(lines.size(), RowBody(k));
      storePanel(panel, sums, lines.size(), lines, perRow);
    });
  }

  /// One row leaves registers free: it takes some panels of a program at a time, each a stream of its
  /// own; what is left goes in ever fewer.
  void overSingleRows(Value first, Value last, Value from, Value rows) {
    int64_t most = std::min(k.schedule.getPanels(), kMostTogether);
    for (int64_t together = int64_t(llvm::bit_floor(uint64_t(most))); together >= 1; together /= 2) {
      Value end = together == 1 ? last : wholeTiles(k, first, last, together);
      k.loop(first, end, together, {}, [&](Value panel, ValueRange) {
        SmallVector<Value> streams = linesFrom(k, panel, together);
        k.loop(from, rows, 1, {}, [&](Value row, ValueRange) {
          rowTile(streams, row, 1);
          return SmallVector<Value>();
        });
        return SmallVector<Value>();
      });
      first = end;
    }
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
    SmallVector<Value> lines = linesFrom(k, firstRow, count);
    std::vector<RowBody> perRow;
    perRow.reserve(count);
    for (Value line : lines) {
      perRow.emplace_back(k);
      if (!products->inGroups())
        perRow.back().prepare(projections.front().input, line);
    }

    SmallVector<Value> sums = products->of(panels, lines, perRow);
    for (auto [i, panel] : llvm::enumerate(panels))
      storePanel(panel, ArrayRef(sums).drop_front(i * lines.size()), panels.size() * lines.size(), lines, perRow);
  }

  /// What leaves the kernel of one panel; `sums` [projection][row], `stride` from one projection to
  /// the next.
  void storePanel(Value panel, ArrayRef<Value> sums, size_t stride, ArrayRef<Value> lines,
                  MutableArrayRef<RowBody> perRow) {
    int64_t panelRows = products->panelRows(), outputs = products->outputs();
    Value column = k.mul(panel, panelRows);
    Value valid;
    if (outputs % panelRows)
      valid = k.sub(k.index(outputs), column);
    SmallVector<Value> tiles;
    for (size_t m = 0; m < lines.size(); ++m) {
      for (auto [p, projection] : llvm::enumerate(projections)) {
        Value sum = sums[p * stride + m];
        if (projection.bias)
          sum = k.addf(sum, k.load(k.weight(projection.bias), column, panelRows, valid));
        perRow[m].define(projection.result, sum);
      }
      tiles.push_back(perRow[m].tileOf(leaving, lines[m], column, panelRows, valid));
    }
    if (leaving != yielded) {
      SmallVector<QuantizedRow::Place> places;
      for (Value line : lines)
        places.push_back({line, panel}); // a panel is a group
      return QuantizedRow(k, target, outputs).store(tiles, places);
    }
    for (auto [tile, line] : llvm::zip(tiles, lines))
      k.store(tile, target, {line, column}, valid);
  }

  KernelBuilder &k;
  SmallVector<Projection> projections;
  Value yielded, leaving, target; ///< what leaves the products is `leaving`, maybe rounded to `yielded`
  LinearProducts *products = nullptr; ///< while the kernel is built
  tile::Extent lineExtent = tile::Extent::Rows;
};

} // namespace

LogicalResult tiles::buildLinear(KernelBuilder &k) { return LinearKernel(k).build(); }
