// SPDX-License-Identifier: Apache-2.0
//
// Rounding rows to groups, and embeddings from tables in groups.
#include "passes/tile/GroupPanels.h"
#include "passes/graph/Regions.h"

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

Value QuantizedRow::word(Value group, int64_t list) {
  return k.add(group, k.index(groups * kGroup / 4 + list * groups));
}

Value QuantizedRow::scale(Value line, Value group) {
  return k.loadScalar(k.reinterpret(view, k.body.getF32Type()), {line, word(group, 0)});
}

Value QuantizedRow::sum(Value line, Value group) {
  return k.loadScalar(view, {line, word(group, 1)});
}

Value QuantizedRow::scaledSum(Value line, Value group) {
  return k.loadScalar(k.reinterpret(view, k.body.getF32Type()), {line, word(group, 2)});
}

void QuantizedRow::store(Value tile, Value line, Value group) {
  CodeScale rounding = codeScale(k, sizesOf(k, tile));
  Value scale = rounding.scale, codes = codesOf(k, tile, rounding), narrow = asBytes(k, codes);
  Value sum = k.reduce(tile::Reduction::Add, codes), floats = k.reinterpret(view, k.body.getF32Type());
  k.store(narrow, k.reinterpret(view, k.body.getI8Type()), {line, k.mul(group, kGroup)});
  k.store(scale, floats, {line, word(group, 0)});
  k.store(sum, view, {line, word(group, 1)});
  k.store(k.mulf(scale, arith::SIToFPOp::create(k.body, k.loc, k.body.getF32Type(), sum)), floats, {line, word(group, 2)});
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
