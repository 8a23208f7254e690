// SPDX-License-Identifier: Apache-2.0
//
// Rounding rows to groups, and embeddings from tables in groups.
#include "passes/graph/Regions.h"
#include "passes/tile/GroupPanels.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

static constexpr int64_t kGroup = GroupType::kGroup;
static constexpr int64_t kMostTogether = 4; ///< groups that are rounded together

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

/// Each step for all groups before the next: within one, instructions wait for each other.
void QuantizedRow::store(ValueRange tiles, ArrayRef<Place> places) {
  Value floats = k.reinterpret(view, k.body.getF32Type()), bytes = k.reinterpret(view, k.body.getI8Type());
  SmallVector<CodeScale> roundings;
  for (Value tile : tiles)
    roundings.push_back(codeScale(k, sizesOf(k, tile)));
  SmallVector<Value> codes, sums;
  for (auto [tile, rounding] : llvm::zip(tiles, roundings))
    codes.push_back(codesOf(k, tile, rounding));
  for (Value ofGroup : codes)
    sums.push_back(sumOfCodes(k, ofGroup));
  for (auto [i, place] : llvm::enumerate(places)) {
    Value line = place.line, group = place.group, scale = roundings[i].scale;
    k.store(asBytes(k, codes[i]), bytes, {line, k.mul(group, kGroup)});
    k.store(scale, floats, {line, word(group, 0)});
    k.store(sums[i], view, {line, word(group, 1)});
    Value sum = arith::SIToFPOp::create(k.body, k.loc, k.body.getF32Type(), sums[i]);
    k.store(k.mulf(scale, sum), floats, {line, word(group, 2)});
  }
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
  int64_t together = kMostTogether;
  while (width / kGroup % together)
    --together;
  k.loop(k.index(0), k.index(width / kGroup), together, {}, [&](Value first, ValueRange) {
    SmallVector<Value> tiles;
    SmallVector<QuantizedRow::Place> places;
    for (Value group : linesFrom(k, first, together)) {
      tiles.push_back(rows.tileOf(rounding.getInput(), line, k.mul(group, kGroup), kGroup, Value()));
      places.push_back({line, group});
    }
    target.store(tiles, places);
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
