// SPDX-License-Identifier: Apache-2.0
//
// The frame of a kernel (parameters, its place in the grid), and how tiles lie in lanes.
#include "passes/codegen/nvptx/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

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
  Type pointer = LLVM::LLVMPointerType::get(context, kGlobalMemory);
  SmallVector<Type> parameters(kernel.getBody().getNumArguments(), pointer);
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

LogicalResult KernelLowering::lowerTileOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LoadOp load) { return lowerLoad(load); })
      .Case([&](StoreOp store) { return lowerStore(store); })
      .Case([&](BroadcastOp broadcast) { return lowerBroadcast(broadcast), success(); })
      .Case([&](IotaOp iota) { return lowerIota(iota), success(); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce), success(); })
      .Case([&](DotOp dot) { return lowerDot(dot); })
      .Case([&](Dot4Op dot) { return lowerDot4(dot); })
      .Case([&](PrefetchOp) { return success(); }) // other warps hide what memory takes
      .Case([&](ScratchOp scratch) {
        return refuse(scratch) << "found memory of the program's own, expected none: lanes do not see each other's stores";
      })
      .Default([&](Operation *other) { return lowerByCloning(other); });
}

Type KernelLowering::tileType(int64_t width, Type element) {
  int64_t slots = slotsOf(width);
  return slots == 1 ? element : Type(VectorType::get({slots}, element));
}

FailureOr<Attribute> KernelLowering::tileConstant(arith::ConstantOp op, Type type) {
  auto elements = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!elements)
    return refuse(op) << "expected a tile of one value, found " << op.getValue();
  auto value = elements.getSplatValue<Attribute>();
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Attribute(DenseElementsAttr::get(vector, value)) : value;
}

Value KernelLowering::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
}
