// SPDX-License-Identifier: Apache-2.0
//
// The frame of a kernel's function (operands, loop over programs), structured control flow and
// element-wise ops.
#include "passes/codegen/cpu/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::cpu;
using namespace llmc::tile;

/// Wider computed tiles would fill hundreds of registers; the schedule is at fault.
static constexpr int64_t kWidestTile = 1024;

FailureOr<LLVM::LLVMFuncOp> KernelLowering::run() {
  MLIRContext *context = builder.getContext();
  Type pointer = LLVM::LLVMPointerType::get(context), i32 = builder.getI32Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, pointer, pointer, i32, i32});
  function = LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  function.setNoUnwindAttr(builder.getUnitAttr());
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  step = entry->getArgument(2);
  loadOperands(entry);
  openProgramLoop(entry);
  if (failed(lowerBlock(kernel.getBody().front()))) {
    function.erase();
    return failure();
  }
  builder.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(builder, kernel.getLoc(), ValueRange());
  return function;
}

/// Operand i of the kernel is table[slots[i]].
void KernelLowering::loadOperands(Block *entry) {
  Type pointer = step.getType(), i16 = builder.getI16Type();
  values.map(kernel.getBody().getArgument(0), step);
  for (auto [i, argument] : llvm::enumerate(kernel.getBody().getArguments().drop_front())) {
    Value slot = load(i16, offsetBy(entry->getArgument(1), i16, int64_t(i)), /*invariant=*/true);
    Value wide = LLVM::ZExtOp::create(builder, loc, builder.getI64Type(), slot);
    Value place = LLVM::GEPOp::create(builder, loc, pointer, pointer, entry->getArgument(0),
                                      ArrayRef<LLVM::GEPArg>{wide});
    values.map(argument, load(pointer, place, /*invariant=*/true));
  }
}

void KernelLowering::openProgramLoop(Block *entry) {
  Type indexType = builder.getIndexType(), i32 = builder.getI32Type();
  Value first = arith::IndexCastUIOp::create(builder, loc, indexType, entry->getArgument(3));
  Value last = arith::IndexCastUIOp::create(builder, loc, indexType, entry->getArgument(4));
  auto programs = scf::ForOp::create(builder, loc, first, last, index(1));
  loop = programs;
  builder.setInsertionPointToStart(programs.getBody());
  auto attribute = kernel->getAttrOfType<IntegerAttr>("tile.inner");
  int64_t innerSize = attribute ? attribute.getInt() : 1;
  if (innerSize == 1) {
    line = programs.getInductionVar();
    inner = index(0);
    return;
  }
  // Programs are counted in 32 bits (abi.h), where a division is cheap.
  Value program = arith::IndexCastUIOp::create(builder, loc, i32, programs.getInductionVar());
  Value size = arith::ConstantIntOp::create(builder, loc, i32, innerSize);
  line = arith::IndexCastUIOp::create(builder, loc, indexType,
                                      arith::DivUIOp::create(builder, loc, program, size));
  inner = arith::IndexCastUIOp::create(builder, loc, indexType,
                                       arith::RemUIOp::create(builder, loc, program, size));
}

LogicalResult KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block)
    if (failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult KernelLowering::lower(Operation *op) {
  loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ReturnOp) { return success(); })
      .Case([&](ProgramIdOp id) {
        values.map(id.getResult(), id.getAxis() == Axis::Line ? line : inner);
        return success();
      })
      .Case([&](ExtentOp extent) { return lowerExtent(extent), success(); })
      .Case([&](StepReadOp read) { return lowerStepRead(read), success(); })
      .Case([&](LoadOp load) { return lowerLoad(load); })
      .Case([&](StoreOp store) { return lowerStore(store); })
      .Case([&](KVChunkOp chunk) { return lowerKVChunk(chunk), success(); })
      .Case([&](ReinterpretOp view) {
        values.map(view.getResult(), lookup(view.getView()));
        return success();
      })
      .Case([&](BroadcastOp broadcast) { return lowerBroadcast(broadcast), success(); })
      .Case([&](IotaOp iota) { return lowerIota(iota), success(); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce), success(); })
      .Case([&](DotOp dot) { return lowerDot(dot); })
      .Case([&](Dot4Op dot) { return lowerDot4(dot), success(); })
      .Default([&](Operation *other) { return lowerByCloning(other); });
}

/// Maths functions that become instructions, or polynomials whose error is known.
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
/// level.
static bool computesIn16(Operation *op) {
  bool moves = isStructure(op) || isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp,
                                      arith::SelectOp, arith::ConstantOp>(op);
  return !moves && (llvm::any_of(op->getOperandTypes(), isStored16) ||
                    llvm::any_of(op->getResultTypes(), isStored16));
}

/// Ops of arith, math and scf mean the same on vectors as on tiles: the same op, on converted
/// types.
LogicalResult KernelLowering::lowerByCloning(Operation *op) {
  bool arithmetic =
      isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && !isa<arith::RemFOp>(op);
  if (!arithmetic && !isKnownMath(op) && !isStructure(op))
    return refuse(op) << "no instruction or polynomial stands for it, expected tile, arith, scf or "
                         "one of the maths ops in "
                         "passes/codegen/cpu/README.md";
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
      fast && fast.getFastMathFlagsAttr() &&
      fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
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
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements)
      return refuse(op) << "expected its elements in place, found " << constant.getValue();
    state.attributes.set("value", elements.reshape(cast<ShapedType>(state.types.front())));
  }
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
  values.map(op->getResults(), builder.create(state)->getResults());
  return success();
}

FailureOr<Type> KernelLowering::convertType(Operation *user, Type type) {
  if (isa<StepType, ViewType, KVType>(type))
    return Type(step.getType());
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
  return Type(vectorOf(tensor.getDimSize(0), tensor.getElementType()));
}

InFlightDiagnostic KernelLowering::refuse(Operation *op) {
  return op->emitOpError() << "cannot be lowered for a CPU: ";
}

Value KernelLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value KernelLowering::zeros(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value KernelLowering::toI64(Value value) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
}
