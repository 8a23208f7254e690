// SPDX-License-Identifier: Apache-2.0
//
// How the elements of a tile lie in a warp, and the tree by which they are summed: halves of what a
// lane holds first, then butterflies between lanes, which are the additions that TileOps.td states.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/codegen/nvptx/KernelLowering.h"

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

KernelLowering::Values KernelLowering::unpack(Value laneValue) {
  auto vector = dyn_cast<VectorType>(laneValue.getType());
  if (!vector)
    return {laneValue};
  Values elements;
  for (int64_t i = 0; i < vector.getDimSize(0); ++i)
    elements.push_back(vector::ExtractOp::create(builder, loc, laneValue, ArrayRef<int64_t>{i}));
  return elements;
}

Value KernelLowering::pack(ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  auto type = VectorType::get({int64_t(elements.size())}, elements.front().getType());
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

void KernelLowering::lowerBroadcast(BroadcastOp op) {
  values.map(op.getResult(), pack(Values(slotsOf(widthOf(op.getResult())), lookup(op.getValue()))));
}

void KernelLowering::lowerIota(IotaOp op) {
  Value own = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), lane);
  Values elements;
  for (int64_t slot = 0; slot < slotsOf(widthOf(op.getResult())); ++slot)
    elements.push_back(arith::AddIOp::create(builder, loc, own, i32(slot * kWarp)));
  values.map(op.getResult(), pack(elements));
}

/// All lanes take part.
Value KernelLowering::shuffle(NVVM::ShflKind kind, Value value, Value offset) {
  return NVVM::ShflOp::create(builder, loc, value.getType(), i32(-1), value, offset, i32(kWarp - 1),
                              kind, UnitAttr());
}

/// Both lanes of a butterfly add the same two numbers, so all lanes end with the same bits. A tile
/// narrower than the warp leaves the idle lanes with a sum of their own, so they take lane 0's.
void KernelLowering::lowerReduce(ReduceOp op) {
  Values held = unpack(lookup(op.getInput()));
  while (held.size() > 1) {
    size_t half = held.size() / 2;
    for (size_t i = 0; i < half; ++i)
      held[i] = combine(op.getReduction(), held[i], held[i + half]);
    held.resize(half);
  }
  int64_t width = widthOf(op.getInput());
  Value rest = held.front();
  for (int64_t half = std::min(width, kWarp) / 2; half > 0; half /= 2)
    rest = combine(op.getReduction(), rest, shuffle(NVVM::ShflKind::bfly, rest, i32(half)));
  if (width < kWarp)
    rest = shuffle(NVVM::ShflKind::idx, rest, i32(0));
  values.map(op.getResult(), rest);
}
