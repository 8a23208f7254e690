// SPDX-License-Identifier: Apache-2.0
//
// The frame of a kernel's function (operands, loop over programs), and how tiles become vectors.
#include "passes/codegen/cpu/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace llmc::cpu;
using namespace llmc::tile;

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

LogicalResult KernelLowering::lowerTileOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](LoadOp load) { return lowerLoad(load); })
      .Case([&](StoreOp store) { return lowerStore(store); })
      .Case([&](ScratchOp scratch) { return lowerScratch(scratch); })
      .Case([&](PrefetchOp line) { return prefetch(addressOf(line), 1), success(); })
      .Case([&](BroadcastOp broadcast) { return lowerBroadcast(broadcast), success(); })
      .Case([&](IotaOp iota) { return lowerIota(iota), success(); })
      .Case([&](ReduceOp reduce) { return lowerReduce(reduce), success(); })
      .Case([&](DotOp dot) { return lowerDot(dot); })
      .Case([&](Dot4Op dot) { return lowerDot4(dot), success(); })
      .Default([&](Operation *other) { return lowerByCloning(other); });
}

Type KernelLowering::tileType(int64_t width, Type element) { return vectorOf(width, element); }

FailureOr<Attribute> KernelLowering::tileConstant(arith::ConstantOp op, Type type) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return refuse(op) << "expected its elements in place, found " << op.getValue();
  return Attribute(elements.reshape(cast<ShapedType>(type)));
}
