// SPDX-License-Identifier: Apache-2.0
//
// Products of rows and weights in groups. Within a group everything is an integer and exact; across
// groups f32 sums go in order, so the bits depend on nothing else.
#include "passes/tile/GroupPanels.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

static constexpr int64_t kWords = GroupType::kGroup / 4; // of a group with a byte for each code

GroupPanels::GroupPanels(KernelBuilder &k, FlatSymbolRefAttr symbol) : k(k) {
  WeightType type = lookupWeight(k.region, symbol).getType();
  format = type.getGroups();
  view = k.weight(symbol);
  panelRows = type.getLayout().getPanelRows();
  groups = type.getColumns() / GroupType::kGroup;
}

Value GroupPanels::intTile(int64_t value) {
  return arith::ConstantOp::create(
      k.body, k.loc, DenseElementsAttr::get(k.intTileType(panelRows), int32_t(value)));
}

Value GroupPanels::codes(const Place &place, int64_t word) {
  SmallVector<Value> at(place.group);
  at.push_back(k.index(word * panelRows));
  return k.load(place.view, at, panelRows);
}

Value GroupPanels::factors(const Place &place, bool minimum) {
  Type element = place.unpacked ? Type(k.body.getF32Type()) : Type(k.body.getF16Type());
  int64_t codeWords = (place.unpacked ? kWords : words()) * panelRows;
  int64_t first = codeWords * 32 / element.getIntOrFloatBitWidth() + (minimum ? panelRows : 0);
  SmallVector<Value> at(place.group);
  at.push_back(k.index(first));
  return k.load(k.reinterpret(place.view, element), at, panelRows);
}

void GroupPanels::eachWord(const Place &place, EachWord use) {
  for (int64_t word = 0; word < (place.unpacked ? kWords : words()); ++word) {
    Value stored = codes(place, word);
    if (place.unpacked || format.getBits() == 8) {
      use(word, stored);
      continue;
    }
    use(word, arith::AndIOp::create(k.body, k.loc, stored, intTile(0x0F0F0F0F)));
    Value shifted = arith::ShRUIOp::create(k.body, k.loc, stored, intTile(4));
    use(word + 4, arith::AndIOp::create(k.body, k.loc, shifted, intTile(0x0F0F0F0F)));
  }
}

//===--- Products
//-----------------------------------------------------------------------------------------------------===//

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
      llvm::append_range(sums, addGroup(rows, {view, {panel, group}, false}, lines, group,
                                        carried.slice(i * lines.size(), lines.size())));
    return sums;
  });
}

SmallVector<Value> GroupPanels::addGroup(QuantizedRow &rows, const Place &place, ValueRange lines,
                                         Value group, ValueRange sums) {
  SmallVector<Value> codeSums, integers;
  for (Value line : lines) {
    codeSums.push_back(rows.sum(line, group));
    Value bias = arith::ConstantOp::create(
        k.body, k.loc, k.body.getI32IntegerAttr(int32_t(-format.getBias())));
    Value start = arith::MulIOp::create(k.body, k.loc, codeSums.back(), bias);
    integers.push_back(format.getMinimum() ? intTile(0) : k.broadcast(start, panelRows));
  }
  eachWord(place, [&](int64_t word, Value weights) {
    dot(integers, rows, lines, group, word, weights);
  });
  SmallVector<Value> next;
  Value scales = factors(place, false);
  Value minimums = format.getMinimum() ? factors(place, true) : Value();
  for (auto [m, line] : llvm::enumerate(lines)) {
    Value rowScale = rows.scale(line, group);
    Value products = arith::SIToFPOp::create(k.body, k.loc, k.tileType(panelRows), integers[m]);
    Value both = k.mulf(scales, k.broadcast(rowScale, panelRows));
    Value sum = k.fma(products, both, sums[m]);
    if (minimums) {
      // Converted in all lanes: one element costs more, and waits for the register that it is put into.
      Value whole = arith::SIToFPOp::create(k.body, k.loc, k.tileType(panelRows),
                                            k.broadcast(codeSums[m], panelRows));
      sum = k.fma(minimums, k.mulf(k.broadcast(rowScale, panelRows), whole), sum);
    }
    next.push_back(sum);
  }
  return next;
}

//===--- Unpacked groups
//----------------------------------------------------------------------------------------------===//

int64_t GroupPanels::unpackedBytes() const {
  return (kWords + (format.getMinimum() ? 2 : 1)) * panelRows * 4;
}

Value GroupPanels::unpackedMemory(int64_t count) {
  return k.scratch({count, unpackedBytes() / 4}, k.body.getI32Type());
}

void GroupPanels::unpack(Value memory, Value panel, Value from, Value to) {
  Value floats = k.reinterpret(memory, k.body.getF32Type());
  k.loop(from, to, 1, {}, [&](Value group, ValueRange) {
    Value line = k.sub(group, from);
    Place packed{view, {panel, group}, false};
    eachWord(packed, [&](int64_t word, Value weights) {
      k.store(weights, memory, {line, k.index(word * panelRows)});
    });
    k.store(factors(packed, false), floats, {line, k.index(kWords * panelRows)});
    if (format.getMinimum())
      k.store(factors(packed, true), floats, {line, k.index((kWords + 1) * panelRows)});
    return SmallVector<Value>();
  });
}

SmallVector<Value> GroupPanels::unpackedProducts(QuantizedRow &rows, Value memory, ValueRange lines,
                                                 Value from, Value to, ValueRange sums) {
  return k.loop(from, to, 1, sums, [&](Value group, ValueRange carried) {
    return addGroup(rows, {memory, {k.sub(group, from)}, true}, lines, group, carried);
  });
}

//===--- Single columns, for embeddings
//-------------------------------------------------------------------------------===//

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
