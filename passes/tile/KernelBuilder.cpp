// SPDX-License-Identifier: Apache-2.0
//
// A kernel under construction: parameters and shorthand.
#include "passes/tile/KernelBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

int64_t tiles::powerOfTwoAbove(int64_t n) { return int64_t(llvm::PowerOf2Ceil(uint64_t(n))); }

int64_t tiles::columnsBefore(OpResult part) {
  int64_t columns = 0;
  for (Value before : part.getOwner()->getResults().take_front(part.getResultNumber()))
    columns += widthOf(before.getType());
  return columns;
}

PartOfRow tiles::partOfRow(FusedOp region, Value value) {
  PartOfRow part{value};
  while (auto split = part.row.getDefiningOp<SplitOp>()) {
    if (split->getParentOp() != region)
      break;
    part.offset += columnsBefore(cast<OpResult>(part.row));
    part.row = split.getInput();
  }
  return part;
}

KernelBuilder::KernelBuilder(FusedOp region, tile::KernelOp kernel, OpBuilder &graph)
    : body(OpBuilder::atBlockEnd(&kernel.getBody().front())), loc(region.getLoc()), region(region),
      schedule(region.getScheduleAttr()), kernel(kernel), graph(graph) {
  launch.chunk = schedule.getChunk();
}

//===--- Parameters
//--------------------------------------------------------------------------------------------------===//

Value KernelBuilder::parameter(Value graphValue, Type type) {
  Value argument = kernel.getBody().addArgument(type, loc);
  inputs.push_back({graphValue, argument});
  return argument;
}

Value KernelBuilder::input(Value tensor) {
  for (auto &[value, argument] : inputs)
    if (value == tensor)
      return argument;
  return parameter(tensor, viewOf(tensor.getType()));
}

Value KernelBuilder::weight(FlatSymbolRefAttr symbol) {
  for (auto &[known, argument] : symbols)
    if (known == symbol)
      return argument;
  WeightType type = lookupWeight(region, symbol).getType();
  SmallVector<int64_t> shape(type.getShape());
  Type element = type.getElementType();
  if (int64_t panel = type.getLayout().getPanelRows(); panel && type.getGroups()) {
    shape = {int64_t(llvm::divideCeil(type.getRows(), panel)),
             type.getColumns() / GroupType::kGroup, type.getGroups().getBlockBytes(panel) / 4};
    element = body.getI32Type();
  } else if (panel)
    shape = {int64_t(llvm::divideCeil(type.getRows(), panel)), type.getColumns(), panel};
  auto view = tile::ViewType::get(body.getContext(), shape, element);
  Value argument = parameter(tile::WeightOp::create(graph, loc, view, symbol), view);
  symbols.push_back({symbol, argument});
  return argument;
}

Value KernelBuilder::cache(FlatSymbolRefAttr symbol, KVCacheType type) {
  for (auto &[known, argument] : symbols)
    if (known == symbol)
      return argument;
  int64_t block = 0; // every chunk holds all caches of the model
  for (auto cache : region->getParentOfType<ModuleOp>().getOps<CacheOp>())
    block += int64_t(cache.getType().getKeyBytes() + cache.getType().getValueBytes());
  auto kv = tile::KVType::get(body.getContext(), type.getHeads(), type.getKey(), type.getValue(),
                              type.getLayout() == KVLayout::TokenMajor, block, type.getElement());
  Value argument = parameter(tile::CacheOp::create(graph, loc, kv, symbol), kv);
  symbols.push_back({symbol, argument});
  return argument;
}

Value KernelBuilder::output(Value yielded) {
  auto yield = region.getBody().front().getTerminator();
  for (auto [value, result] : llvm::zip(yield->getOperands(), region.getResults()))
    if (value == yielded) {
      launch.replaced.push_back(result);
      launch.results.push_back(storedAs(result.getType()));
      break;
    }
  outputs.push_back(kernel.getBody().addArgument(viewOf(yielded.getType()), loc));
  return outputs.back();
}

void KernelBuilder::finish() {
  tile::ReturnOp::create(body, loc);
  Block &block = kernel.getBody().front();
  for (auto &[value, argument] : inputs)
    launch.operands.push_back(value);
  // Read parameters first, written ones last: move each written argument behind.
  for (Value &output : outputs) {
    Value moved = block.addArgument(output.getType(), loc);
    output.replaceAllUsesWith(moved);
    block.eraseArgument(cast<BlockArgument>(output).getArgNumber());
    output = block.getArguments().back();
  }
  kernel.setFunctionTypeAttr(
      TypeAttr::get(FunctionType::get(body.getContext(), block.getArgumentTypes(), {})));
  if (launch.inner != 1)
    kernel->setAttr("tile.inner", body.getI64IntegerAttr(launch.inner));
}

//===--- Shorthand
//---------------------------------------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(body, loc, value);
}

SmallVector<Value> tiles::linesFrom(KernelBuilder &k, Value first, int64_t count) {
  SmallVector<Value> lines;
  for (int64_t m = 0; m < count; ++m)
    lines.push_back(m ? k.add(first, k.index(m)) : first);
  return lines;
}

Value KernelBuilder::filled(int64_t width, double value) {
  return arith::ConstantOp::create(body, loc,
                                   DenseElementsAttr::get(tileType(width), float(value)));
}

Value KernelBuilder::broadcast(Value element, int64_t width) {
  return tile::BroadcastOp::create(body, loc, RankedTensorType::get({width}, element.getType()),
                                   element);
}

/// Kept in 16 bits or as codes, computed in 32.
static Value extended(OpBuilder &body, Location loc, Type type, Value stored) {
  Type element = getElementTypeOrSelf(stored.getType());
  if (element.isBF16() || element.isF16())
    return arith::ExtFOp::create(body, loc, type, stored);
  if (element.isInteger(8))
    return arith::SIToFPOp::create(body, loc, type, stored);
  return stored;
}

Value KernelBuilder::load(Value view, ValueRange indices, int64_t width, Value valid) {
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  Value stored = tile::LoadOp::create(body, loc, RankedTensorType::get({width}, element), view,
                                      indices, valid);
  return extended(body, loc, tileType(width), stored);
}

void KernelBuilder::prefetchAhead(Value view, ValueRange indices, int64_t ahead, int64_t elements) {
  int64_t elementBytes = cast<tile::ViewType>(view.getType()).getElementBytes(), end = ahead + elements * elementBytes;
  for (int64_t at = ahead; at < end; at += kLineBytes) {
    SmallVector<Value> line(indices);
    line.back() = add(indices.back(), index(at / elementBytes));
    prefetch(view, line);
  }
}

Value KernelBuilder::reinterpret(Value view, Type element) {
  auto type = cast<tile::ViewType>(view.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = shape.back() * type.getElementBytes() * 8 / element.getIntOrFloatBitWidth();
  auto as = tile::ViewType::get(body.getContext(), shape, element);
  return tile::ReinterpretOp::create(body, loc, as, view);
}

Value KernelBuilder::scratch(ArrayRef<int64_t> shape, Type element) {
  return tile::ScratchOp::create(body, loc, tile::ViewType::get(body.getContext(), shape, element));
}

Value KernelBuilder::loadScalar(Value view, ValueRange indices) {
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  Value stored = tile::LoadOp::create(body, loc, element, view, indices, Value());
  return extended(body, loc, body.getF32Type(), stored);
}

void KernelBuilder::store(Value value, Value view, ValueRange indices, Value valid) {
  Type element = cast<tile::ViewType>(view.getType()).getElementType();
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()); tile && element.isBF16())
    value = arith::TruncFOp::create(body, loc, tile.clone(element), value);
  tile::StoreOp::create(body, loc, value, view, indices, valid);
}

Value KernelBuilder::chunk(tile::KVPart part, Value cache, Value sequence, Value chunk, Value head,
                           LineOf line) {
  auto kv = cast<tile::KVType>(cache.getType());
  auto chunkAs = [&](tile::ViewType view) {
    return tile::KVChunkOp::create(body, loc, view, part, cache, step(), sequence, chunk, head);
  };
  if (tile::isScale(part))
    return chunkAs(tile::ViewType::get(body.getContext(), {tile::KVType::kChunk}, body.getF32Type()));
  int64_t width = kv.getWidth(part == tile::KVPart::Key);
  auto [token, element] = kv.getStrides(part);
  SmallVector<int64_t> shape{tile::KVType::kChunk, width}, strides{token, element};
  if (line == LineOf::Element) {
    std::swap(shape[0], shape[1]);
    std::swap(strides[0], strides[1]);
  }
  return chunkAs(tile::ViewType::get(body.getContext(), shape, kv.getElement(), strides));
}

Value KernelBuilder::matrix(Value view, int64_t columns) {
  auto type = cast<tile::ViewType>(view.getType());
  int64_t all = type.getShape().back();
  auto tile = RankedTensorType::get({type.getShape().front(), columns ? columns : all}, type.getElementType());
  return tile::LoadOp::create(body, loc, tile, view, ValueRange{index(0), index(0)}, Value());
}

SmallVector<Value> KernelBuilder::dot(ValueRange rows, Value matrix, ValueRange accumulators,
                                      ValueRange valid) {
  auto dot = tile::DotOp::create(body, loc, accumulators.getTypes(), rows, matrix, accumulators,
                                 valid, /*transposed=*/false, /*lanes=*/1);
  return SmallVector<Value>(dot.getResults());
}

SmallVector<Value> KernelBuilder::dotTransposed(ValueRange rows, Value matrix,
                                                ValueRange accumulators) {
  auto dot = tile::DotOp::create(body, loc, accumulators.getTypes(), rows, matrix, accumulators,
                                 ValueRange(), /*transposed=*/true, /*lanes=*/1);
  return SmallVector<Value>(dot.getResults());
}

Value KernelBuilder::reduce(tile::Reduction how, Value tile) {
  return tile::ReduceOp::create(body, loc, cast<RankedTensorType>(tile.getType()).getElementType(),
                                how, tile);
}

SmallVector<Value> KernelBuilder::loop(Value from, Value to, int64_t step, ValueRange carried,
                                       LoopBody fill) {
  auto loop = scf::ForOp::create(body, loc, from, to, index(step), carried);
  OpBuilder::InsertionGuard guard(body);
  if (carried.empty())
    body.setInsertionPoint(loop.getBody()->getTerminator());
  else
    body.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = fill(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(body, loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> KernelBuilder::columns(int64_t width, int64_t tile, ValueRange carried,
                                          ColumnBody fill) {
  int64_t full = width / tile * tile;
  SmallVector<Value> values(carried);
  if (full == tile)
    values = fill(index(0), Value(), values);
  else if (full > 0)
    values = loop(index(0), index(full), tile, values,
                  [&](Value at, ValueRange inside) { return fill(at, Value(), inside); });
  if (full < width)
    values = fill(index(full), index(width - full), values);
  return values;
}
