// SPDX-License-Identifier: Apache-2.0
//
// Structured control flow and element-wise ops: the same op, on what stands for tiles.
#include "passes/codegen/llvm/KernelWalk.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::tile;

/// Wider computed tiles would fill the registers; the schedule is at fault.
static constexpr int64_t kWidestTile = 1024;

LogicalResult KernelWalk::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult KernelWalk::lower(Operation *op) {
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ReturnOp) { return success(); })
      .Case([&](ProgramIdOp id) {
        values.map(id.getResult(), id.getAxis() == Axis::Line ? line : inner);
        return success();
      })
      .Case([&](ExtentOp extent) { return lowerExtent(extent), success(); })
      .Case([&](StepReadOp read) { return lowerStepRead(read), success(); })
      .Case([&](KVChunkOp chunk) { return lowerKVChunk(chunk), success(); })
      .Case([&](ReinterpretOp view) {
        values.map(view.getResult(), lookup(view.getView()));
        return success();
      })
      .Default([&](Operation *other) {
        return isa_and_nonnull<TileDialect>(other->getDialect()) ? lowerTileOp(other)
                                                                 : lowerByCloning(other);
      });
}

/// Maths functions that every target has as instructions rounded to nearest, or the polynomials of
/// LowerToLLVM.cpp, whose error is known.
static bool isKnownMath(Operation *op) {
  return isa<math::ExpOp, math::TanhOp, math::ErfOp, math::SqrtOp, math::RsqrtOp, math::FmaOp,
             math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
             math::TruncOp, math::CopySignOp>(op);
}

static bool isStructure(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op);
}

static bool isStored16(Type type) {
  return getElementTypeOrSelf(type).isBF16() || getElementTypeOrSelf(type).isF16();
}

/// Numbers of 16 bits are moved and converted; arithmetic on them would round otherwise on each
/// machine.
static bool computesIn16(Operation *op) {
  bool moves =
      isStructure(op) ||
      isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp, arith::ConstantOp>(op);
  return !moves && (llvm::any_of(op->getOperandTypes(), isStored16) ||
                    llvm::any_of(op->getResultTypes(), isStored16));
}

static bool hasFastMath(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  return fast && fast.getFastMathFlagsAttr() &&
         fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none;
}

LogicalResult KernelWalk::lowerByCloning(Operation *op) {
  bool arithmetic =
      isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && !isa<arith::RemFOp>(op);
  if (!arithmetic && !isKnownMath(op) && !isStructure(op))
    return refuse(op) << "no instruction or polynomial stands for it, expected tile, arith, scf or "
                         "one of the maths ops in passes/codegen/llvm/README.md";
  if (hasFastMath(op))
    return refuse(op) << "found fastmath flags, expected none: they would let the same sum give "
                         "other bits elsewhere";
  if (computesIn16(op))
    return refuse(op) << "found arithmetic on bf16 or f16, expected arith.extf before it and "
                         "arith.truncf after it";
  if (auto rounding = dyn_cast<arith::TruncFOp>(op); rounding && rounding.getRoundingmode())
    return refuse(op) << "found a rounding mode, expected none: numbers are rounded to nearest "
                         "even";
  OperationState state(loc, op->getName());
  state.attributes = op->getAttrs();
  for (Value operand : op->getOperands())
    state.operands.push_back(lookup(operand));
  for (Type type : op->getResultTypes()) {
    FailureOr<Type> converted = convertType(op, type);
    if (failed(converted))
      return failure();
    state.types.push_back(*converted);
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && isa<RankedTensorType>(constant.getType())) {
    FailureOr<Attribute> value = tileConstant(constant, state.types.front());
    if (failed(value))
      return failure();
    state.attributes.set("value", *value);
  }
  if (failed(copyRegions(op, state)))
    return failure();
  values.map(op->getResults(), builder.create(state)->getResults());
  return success();
}

LogicalResult KernelWalk::copyRegions(Operation *op, OperationState &state) {
  for (Region &region : op->getRegions()) {
    Region *copy = state.addRegion();
    for (Block &block : region) {
      Block *target = new Block;
      copy->push_back(target);
      for (BlockArgument argument : block.getArguments()) {
        FailureOr<Type> converted = convertType(op, argument.getType());
        if (failed(converted))
          return failure();
        values.map(argument, target->addArgument(*converted, argument.getLoc()));
      }
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(target);
      if (failed(lowerBlock(block)))
        return failure();
    }
  }
  loc = op->getLoc();
  return success();
}

FailureOr<Type> KernelWalk::convertType(Operation *user, Type type) {
  if (isa<StepType, ViewType, KVType>(type))
    return step.getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    if (type.isIntOrIndexOrFloat())
      return type;
    return refuse(user) << "found type " << type << ", expected numbers, tiles or views";
  }
  if (tensor.getRank() != 1 || !tensor.hasStaticShape())
    return refuse(user)
           << "found " << tensor
           << ", expected rank 1: only tile.dot uses tiles of rank 2, straight from tile.load";
  if (tensor.getDimSize(0) < 1 || tensor.getDimSize(0) > kWidestTile)
    return refuse(user) << "found " << tensor << ", expected 1 to " << kWidestTile
                        << " elements; loop over narrower tiles";
  return tileType(tensor.getDimSize(0), tensor.getElementType());
}

InFlightDiagnostic KernelWalk::refuse(Operation *op) {
  return op->emitOpError() << "cannot be lowered for " << machine << ": ";
}

/// maximumf and minimumf, not maxnumf: a NaN must survive to where it can be seen, and -0 < +0
/// makes the result independent of the order of its operands. `greater` is for whoever needs neither.
Value KernelWalk::combine(Reduction kind, Value a, Value b) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  switch (kind) {
  case Reduction::Add:
    return isFloat ? arith::AddFOp::create(builder, loc, a, b).getResult()
                   : arith::AddIOp::create(builder, loc, a, b).getResult();
  case Reduction::Max:
    return isFloat ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                   : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case Reduction::Greater: {
    Value isGreater =
        isFloat ? arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b).getResult()
                : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, a, b).getResult();
    return arith::SelectOp::create(builder, loc, isGreater, a, b);
  }
  case Reduction::Min:
    return isFloat ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                   : arith::MinSIOp::create(builder, loc, a, b).getResult();
  }
  llvm_unreachable("every reduction combines");
}

Value KernelWalk::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value KernelWalk::zeros(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value KernelWalk::toI64(Value value) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
}
