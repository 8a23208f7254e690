// SPDX-License-Identifier: Apache-2.0
//
// Rounding rows to groups, and products of rows and weights in groups. Within a group everything is
// an integer and exact; across groups f32 sums go in order, so the bits depend on nothing else.
#include "passes/tile/GroupBody.h"
#include "passes/graph/Regions.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

static constexpr int64_t kGroup = GroupType::kGroup;

//===--- Rows
//--------------------------------------------------------------------------------------------------------===//

Value QuantizedRow::codes(Value line, Value group, int64_t word) {
  return k.loadScalar(view, {line, k.add(k.mul(group, kGroup / 4), k.index(word))});
}

Value QuantizedRow::scale(Value line, Value group) {
  Value floats = k.reinterpret(view, k.body.getF32Type());
  return k.loadScalar(floats, {line, k.add(group, k.index(groups * kGroup / 4))});
}

Value QuantizedRow::sum(Value line, Value group) {
  return k.loadScalar(view, {line, k.add(group, k.index(groups * kGroup / 4 + groups))});
}

void QuantizedRow::store(Value tile, Value line, Value group) {
  OpBuilder &body = k.body;
  Location loc = k.loc;
  Type ints = k.intTileType(kGroup), bytes = RankedTensorType::get({kGroup}, body.getI8Type());
  Value largest = k.reduce(tile::Reduction::Max, math::AbsFOp::create(body, loc, tile));
  Value scale = k.divf(largest, k.scalar(127));
  Value some = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::OGE, scale,
                                     k.scalar(std::numeric_limits<float>::min()));
  Value inverse =
      arith::SelectOp::create(body, loc, some, k.divf(k.scalar(1), scale), k.scalar(0));
  Value scaled = k.mulf(tile, k.broadcast(inverse, kGroup));
  Value codes = arith::FPToSIOp::create(body, loc, ints, math::RoundEvenOp::create(body, loc, scaled));
  Value narrow = arith::TruncIOp::create(body, loc, bytes, codes);
  k.store(narrow, k.reinterpret(view, body.getI8Type()), {line, k.mul(group, kGroup)});
  k.store(scale, k.reinterpret(view, body.getF32Type()),
          {line, k.add(group, k.index(groups * kGroup / 4))});
  k.store(k.reduce(tile::Reduction::Add, codes), view,
          {line, k.add(group, k.index(groups * kGroup / 4 + groups))});
}

//===--- Weights
//-----------------------------------------------------------------------------------------------------===//

GroupPanels::GroupPanels(KernelBuilder &k, FlatSymbolRefAttr symbol) : k(k) {
  WeightType type = lookupWeight(k.region, symbol).getType();
  format = type.getGroups();
  view = k.weight(symbol);
  panelRows = type.getLayout().getPanelRows();
  groups = type.getColumns() / kGroup;
}

Value GroupPanels::intTile(int64_t value) {
  return arith::ConstantOp::create(
      k.body, k.loc, DenseElementsAttr::get(k.intTileType(panelRows), int32_t(value)));
}

Value GroupPanels::codes(Value panel, Value group, int64_t word) {
  return k.load(view, {panel, group, k.index(word * panelRows)}, panelRows);
}

/// Scales come after the codes, minimums after the scales.
Value GroupPanels::halves(Value panel, Value group, bool minimum) {
  Value view16 = k.reinterpret(view, k.body.getF16Type());
  int64_t first = 2 * words() * panelRows + (minimum ? panelRows : 0);
  return k.load(view16, {panel, group, k.index(first)}, panelRows);
}

/// One more link of each row's chain of integer products.
void GroupPanels::dot(SmallVectorImpl<Value> &sums, QuantizedRow &rows, ValueRange lines,
                      Value group, int64_t word, Value weights) {
  SmallVector<Value> tiles;
  for (Value line : lines)
    tiles.push_back(k.broadcast(rows.codes(line, group, word), panelRows));
  auto op = tile::Dot4Op::create(k.body, k.loc, SmallVector<Type>(sums.size(), sums[0].getType()),
                                 tiles, weights, sums, format.getBits());
  sums.assign(op.getResults().begin(), op.getResults().end());
}

SmallVector<Value> GroupPanels::products(QuantizedRow &rows, ValueRange panels, ValueRange lines,
                                         int64_t from, int64_t to) {
  SmallVector<Value> zeros(panels.size() * lines.size(), k.filled(panelRows, 0));
  return k.loop(k.index(from), k.index(to), 1, zeros, [&](Value group, ValueRange carried) {
    SmallVector<Value> sums;
    for (auto [i, panel] : llvm::enumerate(panels))
      llvm::append_range(sums, addGroup(rows, panel, lines, group,
                                        carried.slice(i * lines.size(), lines.size())));
    return sums;
  });
}

SmallVector<Value> GroupPanels::addGroup(QuantizedRow &rows, Value panel, ValueRange lines,
                                         Value group, ValueRange sums) {
  SmallVector<Value> codeSums, integers;
  for (Value line : lines) {
    codeSums.push_back(rows.sum(line, group));
    Value bias = arith::ConstantOp::create(
        k.body, k.loc, k.body.getI32IntegerAttr(int32_t(-format.getBias())));
    Value start = arith::MulIOp::create(k.body, k.loc, codeSums.back(), bias);
    integers.push_back(format.getMinimum() ? intTile(0) : k.broadcast(start, panelRows));
  }
  for (int64_t word = 0; word < words(); ++word) {
    Value weights = codes(panel, group, word);
    if (format.getBits() == 8) {
      dot(integers, rows, lines, group, word, weights);
      continue;
    }
    Value low = arith::AndIOp::create(k.body, k.loc, weights, intTile(0x0F0F0F0F));
    Value shifted = arith::ShRUIOp::create(k.body, k.loc, weights, intTile(4));
    Value high = arith::AndIOp::create(k.body, k.loc, shifted, intTile(0x0F0F0F0F));
    dot(integers, rows, lines, group, word, low);
    dot(integers, rows, lines, group, word + 4, high);
  }
  SmallVector<Value> next;
  Value scales = halves(panel, group, false);
  Value minimums = format.getMinimum() ? halves(panel, group, true) : Value();
  for (auto [m, line] : llvm::enumerate(lines)) {
    Value rowScale = rows.scale(line, group);
    Value products = arith::SIToFPOp::create(k.body, k.loc, k.tileType(panelRows), integers[m]);
    Value both = k.mulf(scales, k.broadcast(rowScale, panelRows));
    Value sum = k.fma(products, both, sums[m]);
    if (minimums) {
      Value whole = arith::SIToFPOp::create(k.body, k.loc, k.body.getF32Type(), codeSums[m]);
      sum = k.fma(minimums, k.broadcast(k.mulf(rowScale, whole), panelRows), sum);
    }
    next.push_back(sum);
  }
  return next;
}

Value GroupPanels::half(Value panel, Value group, Value row, bool minimum) {
  Value view16 = k.reinterpret(view, k.body.getF16Type());
  int64_t first = 2 * words() * panelRows + (minimum ? panelRows : 0);
  return k.loadScalar(view16, {panel, group, k.add(row, k.index(first))});
}

Value GroupPanels::columns(Value row, Value group, int64_t word, bool high) {
  Value panel = k.div(row, panelRows), inPanel = k.rem(row, panelRows);
  auto bytes = RankedTensorType::get({4}, k.body.getI8Type());
  Value at = k.mul(k.add(inPanel, k.index(word * panelRows)), 4);
  Value stored = tile::LoadOp::create(k.body, k.loc, bytes, k.reinterpret(view, k.body.getI8Type()),
                                      ValueRange{panel, group, at}, Value());
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(k.body, k.loc,
                                     DenseElementsAttr::get(k.intTileType(4), value));
  };
  Value codes = arith::ExtUIOp::create(k.body, k.loc, k.intTileType(4), stored);
  if (high)
    codes = arith::ShRUIOp::create(k.body, k.loc, codes, constant(4));
  if (format.getBits() == 4)
    codes = arith::AndIOp::create(k.body, k.loc, codes, constant(15));
  codes = arith::SubIOp::create(k.body, k.loc, codes, constant(int32_t(format.getBias())));
  Value values = arith::SIToFPOp::create(k.body, k.loc, k.tileType(4), codes);
  Value scale = k.broadcast(half(panel, group, inPanel, false), 4);
  if (!format.getMinimum())
    return k.mulf(values, scale);
  return k.fma(values, scale, k.broadcast(half(panel, group, inPanel, true), 4));
}

//===--- Kernels
//-----------------------------------------------------------------------------------------------------===//

LogicalResult tiles::buildQuantize(KernelBuilder &k) {
  auto rounding = k.region.getBody().front().getTerminator()->getOperand(0).getDefiningOp<QuantizeOp>();
  int64_t width = widthOf(rounding.getInput().getType());
  k.launch.extent = lineOf(rounding.getResult().getType()) == Line::Output ? tile::Extent::Outputs
                                                                           : tile::Extent::Rows;
  Value line = k.programId(tile::Axis::Line);
  RowBody rows(k);
  rows.prepare(rounding.getInput(), line);
  QuantizedRow target(k, k.output(rounding.getResult()), width);
  k.loop(k.index(0), k.index(width / kGroup), 1, {}, [&](Value group, ValueRange) {
    Value column = k.mul(group, kGroup);
    target.store(rows.tileOf(rounding.getInput(), line, column, kGroup, Value()), line, group);
    return SmallVector<Value>();
  });
  return success();
}

LogicalResult tiles::buildGroupEmbed(KernelBuilder &k) {
  auto embed = graph::findIn<EmbedOp>(k.region);
  int64_t groups = widthOf(embed.getResult().getType()) / kGroup;
  k.launch.extent = tile::Extent::Rows;
  Value line = k.programId(tile::Axis::Line);
  Value row = k.read(tile::Field::Tokens, line);
  GroupPanels table(k, embed.getTableAttr());
  Value target = k.output(embed.getResult());
  bool nibbles = table.words() == 4;
  k.loop(k.index(0), k.index(groups), 1, {}, [&](Value group, ValueRange) {
    for (int64_t word = 0; word < 8; ++word) {
      bool high = nibbles && word >= 4;
      Value column = k.add(k.mul(group, kGroup), k.index(4 * word));
      k.store(table.columns(row, group, high ? word - 4 : word, high), target, {line, column});
    }
    return SmallVector<Value>();
  });
  return success();
}
