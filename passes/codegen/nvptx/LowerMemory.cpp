// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of views. A lane that has no element neither loads nor stores.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/nvptx/KernelLowering.h"

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

/// Zero where the condition does not hold; a null condition holds everywhere.
Value KernelLowering::loadWhere(Value condition, Type type, Value pointer) {
  if (!condition)
    return load(type, pointer);
  auto branch =
      scf::IfOp::create(builder, loc, TypeRange(type), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, load(type, pointer));
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, zeros(type));
  return branch.getResult(0);
}

void KernelLowering::storeWhere(Value condition, Value value, Value pointer) {
  OpBuilder::InsertionGuard guard(builder);
  if (condition) {
    auto branch = scf::IfOp::create(builder, loc, TypeRange(), condition, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  store(value, pointer);
}

/// Whether this lane has an element in `slot` of a tile of `width` of which the first `end` count;
/// null: all lanes have. `end` null: all elements count.
Value KernelLowering::isPresent(int64_t slot, int64_t width, Value end) {
  if (!end && (slot + 1) * kWarp <= width)
    return {};
  Value element = arith::AddIOp::create(builder, loc, lane, index(slot * kWarp));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, element,
                               end ? end : index(width));
}

/// The parameter of the kernel that a view is part of.
static BlockArgument parameterOf(Value view) {
  while (Operation *source = view.getDefiningOp()) {
    if (auto chunk = dyn_cast<KVChunkOp>(source))
      view = chunk.getKv();
    else if (auto same = dyn_cast<ReinterpretOp>(source))
      view = same.getView();
    else
      return {};
  }
  return dyn_cast<BlockArgument>(view);
}

LogicalResult KernelLowering::lowerLoad(LoadOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (BlockArgument parameter = parameterOf(op.getView());
      parameter && kernel.writes(parameter.getArgNumber()))
    return refuse(op) << "found a load from parameter " << parameter.getArgNumber()
                      << ", which the kernel writes, expected parameters that are read or written: "
                         "lanes do not see each other's stores";
  if (!tile && op.getValid())
    return refuse(op) << "found valid on one element, expected a tile";
  if (!tile) {
    values.map(op.getResult(), load(op.getResult().getType(), addressOf(op)));
    return success();
  }
  if (isReadByDots(op))
    return success();
  if (failed(convertType(op, tile)))
    return failure();
  int64_t width = tile.getDimSize(0);
  Value end = op.getValid() ? clampedCount(lookup(op.getValid()), width) : Value();
  Value own = offsetBy(addressOf(op), tile.getElementType(), lane);
  Values elements;
  for (int64_t slot = 0; slot < slotsOf(width); ++slot)
    elements.push_back(loadWhere(isPresent(slot, width, end), tile.getElementType(),
                                 offsetBy(own, tile.getElementType(), slot * kWarp)));
  values.map(op.getResult(), pack(elements));
  return success();
}

LogicalResult KernelLowering::lowerStore(StoreOp op) {
  Value place = addressOf(op);
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (op.getValid() && !tile)
    return refuse(op) << "found valid on one element, expected a tile";
  if (!tile) {
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, index(0));
    storeWhere(isFirst, lookup(op.getValue()), place);
    return success();
  }
  int64_t width = tile.getDimSize(0);
  Value end = op.getValid() ? clampedCount(lookup(op.getValid()), width) : Value();
  ViewType view = op.getView().getType();
  int64_t stride = view.getStride(view.getRank() - 1);
  Value offset = stride == 1 ? lane : arith::MulIOp::create(builder, loc, lane, index(stride));
  Value own = offsetBy(place, tile.getElementType(), offset);
  for (auto [slot, element] : llvm::enumerate(unpack(lookup(op.getValue()))))
    storeWhere(isPresent(int64_t(slot), width, end), element,
               offsetBy(own, tile.getElementType(), int64_t(slot) * kWarp * stride));
  return success();
}
