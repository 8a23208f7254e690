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

/// Some rows compute about as long as memory takes to bring a panel, so what comes next is prefetched meanwhile. A single row only
/// waits for memory, and prefetches of one stream would wait with it.
static constexpr int64_t kAhead = 8192;
/// Of several panels side by side a machine does not see the start of each coming.
static constexpr int64_t kAheadSideBySide = 3072;

static constexpr int64_t kSign = 128;                      // less, and a code of 8 bits is signed

static int64_t widthOfTile(Value tile) { return cast<RankedTensorType>(tile.getType()).getDimSize(0); }

GroupPanels::GroupPanels(KernelBuilder &k, FlatSymbolRefAttr symbol) : k(k) {
  WeightType type = lookupWeight(k.region, symbol).getType();
  format = type.getGroups();
  view = k.weight(symbol);
  panelRows = type.getLayout().getPanelRows();
  groups = type.getColumns() / GroupType::kGroup;
}

Value GroupPanels::intTile(int64_t width, int64_t value) {
  return arith::ConstantOp::create(
      k.body, k.loc, DenseElementsAttr::get(k.intTileType(width), int32_t(value)));
}

Value GroupPanels::loadAt(const Place &place, Value view, int64_t elements) {
  SmallVector<Value> at(place.block);
  at.push_back(place.first ? k.add(place.first, k.index(elements)) : k.index(elements));
  if (place.ahead)
    k.prefetchAhead(view, at, place.ahead, place.width);
  return k.load(view, at, place.width);
}

Value GroupPanels::factors(const Place &place, bool minimum) {
  Type element = place.unpacked ? Type(k.body.getF32Type()) : Type(k.body.getF16Type());
  int64_t rows = place.unpacked ? place.width : panelRows,
          codeWords = (place.unpacked ? kWords : words()) * rows;
  int64_t first = codeWords * 32 / element.getIntOrFloatBitWidth() + (minimum ? rows : 0);
  return loadAt(place, k.reinterpret(place.view, element), first);
}

void GroupPanels::eachWord(const Place &place, EachWord use) {
  for (int64_t word = 0; word < (place.unpacked ? kWords : words()); ++word) {
    Value stored = loadAt(place, place.view, word * (place.unpacked ? place.width : panelRows));
    if (place.unpacked || format.getBits() == 8) {
      use(word, stored);
      continue;
    }
    Value nibble = intTile(place.width, 0x0F0F0F0F);
    use(word, arith::AndIOp::create(k.body, k.loc, stored, nibble));
    Value shifted = arith::ShRUIOp::create(k.body, k.loc, stored, intTile(place.width, 4));
    use(word + 4, arith::AndIOp::create(k.body, k.loc, shifted, nibble));
  }
}

//===--- Products
//-----------------------------------------------------------------------------------------------------===//

/// One more link of each row's chain of integer products.
void GroupPanels::dot(SmallVectorImpl<Value> &sums, QuantizedRow &rows, ValueRange lines,
                      Value group, int64_t word, Value weights, bool areSigned) {
  SmallVector<Value> tiles;
  for (Value line : lines)
    tiles.push_back(k.broadcast(rows.codes(line, group, word), widthOfTile(weights)));
  auto op = tile::Dot4Op::create(k.body, k.loc, SmallVector<Type>(sums.size(), sums[0].getType()),
                                 tiles, weights, sums, format.getBits(), areSigned);
  sums.assign(op.getResults().begin(), op.getResults().end());
}

SmallVector<Value> GroupPanels::products(QuantizedRow &rows, ValueRange panels, ValueRange lines,
                                         int64_t from, int64_t to) {
  SmallVector<Value> zeros(panels.size() * lines.size(), k.filled(panelRows, 0));
  int64_t ahead = lines.size() > 1 ? kAhead : panels.size() > 1 ? kAheadSideBySide : 0;
  return k.loop(k.index(from), k.index(to), 1, zeros, [&](Value group, ValueRange carried) {
    SmallVector<Value> sums;
    for (auto [i, panel] : llvm::enumerate(panels))
      llvm::append_range(sums, addGroup(rows, {view, {panel, group}, panelRows, false, Value(), ahead}, lines, group,
                                        carried.slice(i * lines.size(), lines.size())));
    return sums;
  });
}

SmallVector<Value> GroupPanels::addGroup(QuantizedRow &rows, const Place &place, ValueRange lines,
                                         Value group, ValueRange sums) {
  int64_t width = place.width;
  bool areSigned = place.unpacked && format.getBits() == 8;
  int64_t bias = (format.getMinimum() ? 0 : int64_t(format.getBias())) - (areSigned ? kSign : 0);
  SmallVector<Value> integers;
  for (Value line : lines) {
    if (bias == 0) {
      integers.push_back(intTile(width, kFloatBits)); // no conversion then: products stay below 32 * 255 * 127
      continue;
    }
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(k.body, k.loc, k.body.getI32IntegerAttr(int32_t(value)));
    };
    Value start = arith::MulIOp::create(k.body, k.loc, rows.sum(line, group), constant(-bias));
    start = arith::AddIOp::create(k.body, k.loc, start, constant(kFloatBits));
    integers.push_back(k.broadcast(start, width));
  }
  eachWord(place, [&](int64_t word, Value weights) {
    dot(integers, rows, lines, group, word, weights, areSigned);
  });
  SmallVector<Value> next;
  Value scales = factors(place, false);
  Value offset = k.mulf(scales, k.filled(width, -kFloatOffset)); // exact: a scale has 11 bits
  Value minimums = format.getMinimum() ? factors(place, true) : Value();
  for (auto [m, line] : llvm::enumerate(lines)) {
    Value shifted = arith::BitcastOp::create(k.body, k.loc, k.tileType(width), integers[m]);
    Value products = k.fma(shifted, scales, offset);
    Value sum = k.fma(products, k.broadcast(rows.scale(line, group), width), sums[m]);
    if (minimums)
      sum = k.fma(minimums, k.broadcast(rows.scaledSum(line, group), width), sum);
    next.push_back(sum);
  }
  return next;
}

//===--- Unpacked groups
//----------------------------------------------------------------------------------------------===//

GroupPanels::Unpacked GroupPanels::unpackedMemory(int64_t count, int64_t across) {
  int64_t words = (kWords + (format.getMinimum() ? 2 : 1)) * across;
  return {k.scratch({panelRows / across * count, words}, k.body.getI32Type()), count, across};
}

void GroupPanels::unpack(const Unpacked &unpacked, Value panel, Value from, Value to) {
  int64_t across = unpacked.across;
  Value words = unpacked.memory, floats = k.reinterpret(words, k.body.getF32Type());
  k.loop(k.index(0), k.index(panelRows / across), 1, {}, [&](Value part, ValueRange) {
    Value firstLine = k.sub(k.mul(part, unpacked.count), from);
    k.loop(from, to, 1, {}, [&](Value group, ValueRange) {
      Value line = k.add(firstLine, group);
      Place packed{view, {panel, group}, across, false, k.mul(part, across)};
      eachWord(packed, [&](int64_t word, Value weights) {
        if (format.getBits() == 8)
          weights = arith::XOrIOp::create(k.body, k.loc, weights, intTile(across, int32_t(0x80808080)));
        k.store(weights, words, {line, k.index(word * across)});
      });
      k.store(factors(packed, false), floats, {line, k.index(kWords * across)});
      if (format.getMinimum())
        k.store(factors(packed, true), floats, {line, k.index((kWords + 1) * across)});
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

SmallVector<Value> GroupPanels::unpackedProducts(QuantizedRow &rows, const Unpacked &unpacked,
                                                 Value part, ValueRange lines, Value from, Value to,
                                                 ValueRange sums, const Behind &behind) {
  Value firstLine = k.sub(k.mul(part, unpacked.count), from);
  return k.loop(from, to, 1, sums, [&](Value group, ValueRange carried) {
    if (behind.line)
      prefetchBehind(behind, from, to, group);
    Place place{unpacked.memory, {k.add(firstLine, group)}, unpacked.across, true, Value()};
    return addGroup(rows, place, lines, group, carried);
  });
}

/// As many lines as have been unpacked lie behind them; the last stands for what would be too many.
void GroupPanels::prefetchBehind(const Behind &behind, Value from, Value to, Value group) {
  const int64_t elements = KernelBuilder::kLineBytes / 4, ofBlock = cast<tile::ViewType>(view.getType()).getShape().back() / elements;
  Value last = k.sub(k.mul(k.sub(to, from), ofBlock), k.index(kLinesAGroup));
  Value line = k.minimum(k.add(behind.line, k.mul(k.sub(group, from), kLinesAGroup)), last);
  for (int64_t i = 0; i < kLinesAGroup; ++i)
    k.prefetch(view, {behind.panel, to, k.mul(k.add(line, k.index(i)), elements)});
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
