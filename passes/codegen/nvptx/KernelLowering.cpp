// SPDX-License-Identifier: Apache-2.0
//
// The frame of a kernel (parameters, its place in the grid), structured control flow and
// element-wise ops.
#include "passes/codegen/nvptx/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

/// Wider tiles would fill more than 32 registers of each lane; the schedule is at fault.
static constexpr int64_t kWidestTile = 1024;
static constexpr unsigned kGlobalMemory = 1;

FailureOr<LLVM::LLVMFuncOp> KernelLowering::run() {
  LLVM::LLVMFuncOp function = createFunction();
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Block &body = kernel.getBody().front();
  unsigned operands = body.getNumArguments() - 1;
  for (unsigned i = 0; i < operands; ++i)
    values.map(body.getArgument(i + 1), entry->getArgument(i));
  step = entry->getArgument(operands);
  values.map(body.getArgument(0), step);
  findProgram(entry->getArgument(operands + 1));
  if (failed(lowerBlock(body))) {
    function.erase();
    return failure();
  }
  builder.setInsertionPointToEnd(entry);
  LLVM::ReturnOp::create(builder, kernel.getLoc(), ValueRange());
  return function;
}

/// The operands in order, the step, the first program.
LLVM::LLVMFuncOp KernelLowering::createFunction() {
  MLIRContext *context = builder.getContext();
  pointerType = LLVM::LLVMPointerType::get(context, kGlobalMemory);
  SmallVector<Type> parameters(kernel.getBody().getNumArguments(), pointerType);
  parameters.push_back(builder.getI32Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(kWarp)}));
  return function;
}

/// Block b runs program first + b; it is program (line, inner) of the grid.
void KernelLowering::findProgram(Value first) {
  Type i32Type = builder.getI32Type(), indexType = builder.getIndexType();
  auto widen = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, indexType, value);
  };
  lane = widen(NVVM::ThreadIdXOp::create(builder, loc, i32Type));
  Value program =
      arith::AddIOp::create(builder, loc, NVVM::BlockIdXOp::create(builder, loc, i32Type), first);
  auto attribute = kernel->getAttrOfType<IntegerAttr>("tile.inner");
  Value size = i32(attribute ? attribute.getInt() : 1);
  line = widen(arith::DivUIOp::create(builder, loc, program, size));
  inner = widen(arith::RemUIOp::create(builder, loc, program, size));
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
      .Case([&](BroadcastOp broadcast) { return lowerBroadcast(broadcast), success(); })
      .Case([&](IotaOp iota) { return lowerIota(iota), success(); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce), success(); })
      .Case([&](DotOp dot) { return lowerDot(dot); })
      .Case([&](Dot4Op dot) { return lowerDot4(dot); })
      .Default([&](Operation *other) { return lowerByCloning(other); });
}

/// Maths functions that become instructions rounded to nearest, or the polynomials of
/// passes/codegen/llvm.
static bool isKnownMath(Operation *op) {
  return isa<math::ExpOp, math::TanhOp, math::ErfOp, math::SqrtOp, math::RsqrtOp, math::FmaOp,
             math::AbsFOp>(op);
}

static bool isStructure(Operation *op) { return isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op); }

/// Ops of arith, math and scf mean the same on what a lane holds as on the tile: the same op, on
/// converted types.
LogicalResult KernelLowering::lowerByCloning(Operation *op) {
  bool arithmetic =
      isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && !isa<arith::RemFOp>(op);
  if (!arithmetic && !isKnownMath(op) && !isStructure(op))
    return refuse(op) << "no instruction or polynomial stands for it, expected tile, arith, scf or "
                         "one of the maths ops in "
                         "passes/codegen/nvptx/README.md";
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
      fast && fast.getFastMathFlagsAttr() &&
      fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
    return refuse(op) << "found fastmath flags, expected none: they would let the same sum give "
                         "other bits elsewhere";
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
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements)
      return refuse(op) << "expected a tile of one value, found " << constant.getValue();
    auto vector = dyn_cast<VectorType>(state.types.front());
    state.attributes.set("value", vector ? Attribute(DenseElementsAttr::get(
                                               vector, elements.getSplatValue<Attribute>()))
                                         : elements.getSplatValue<Attribute>());
  }
  if (failed(copyRegions(op, state)))
    return failure();
  values.map(op->getResults(), builder.create(state)->getResults());
  return success();
}

LogicalResult KernelLowering::copyRegions(Operation *op, OperationState &state) {
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

FailureOr<Type> KernelLowering::convertType(Operation *user, Type type) {
  if (isa<StepType, ViewType, KVType>(type))
    return pointerType;
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
  int64_t slots = slotsOf(tensor.getDimSize(0));
  return slots == 1 ? tensor.getElementType()
                    : Type(VectorType::get({slots}, tensor.getElementType()));
}

InFlightDiagnostic KernelLowering::refuse(Operation *op) {
  return op->emitOpError() << "cannot be lowered for an NVIDIA GPU: ";
}

Value KernelLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value KernelLowering::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
}

Value KernelLowering::zeros(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value KernelLowering::toI64(Value value) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
}
