// SPDX-License-Identifier: Apache-2.0
//
// LLVM's pass leaves out accesses that are not 1, 2, 4, 8 or 16 bytes wide, and masked ones: nearly
// all that kernels do.
#include "passes/codegen/cpu/InstrumentThreads.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

void llmc::cpu::requestThreadSanitizer(Module &module) {
  for (Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(Attribute::SanitizeThread);
}

namespace {
struct Access {
  Instruction *at;
  Value *pointer;
  Type *type;
  Value *mask; // of a masked access, else null
  bool writes;
};
} // namespace

static bool isSeenByLLVM(uint64_t bytes) { return bytes <= 16 && isPowerOf2_64(bytes); }

static SmallVector<Access> wideAccesses(Function &function) {
  const DataLayout &layout = function.getDataLayout();
  SmallVector<Access> accesses;
  for (Instruction &at : instructions(function)) {
    if (auto *load = dyn_cast<LoadInst>(&at)) {
      if (!isSeenByLLVM(layout.getTypeStoreSize(load->getType())))
        accesses.push_back({&at, load->getPointerOperand(), load->getType(), nullptr, false});
    } else if (auto *store = dyn_cast<StoreInst>(&at)) {
      Type *type = store->getValueOperand()->getType();
      if (!isSeenByLLVM(layout.getTypeStoreSize(type)))
        accesses.push_back({&at, store->getPointerOperand(), type, nullptr, true});
    } else if (auto *call = dyn_cast<IntrinsicInst>(&at)) {
      if (call->getIntrinsicID() == Intrinsic::masked_load)
        accesses.push_back(
            {&at, call->getArgOperand(0), call->getType(), call->getArgOperand(1), false});
      else if (call->getIntrinsicID() == Intrinsic::masked_store)
        accesses.push_back({&at, call->getArgOperand(1), call->getArgOperand(0)->getType(),
                            call->getArgOperand(2), true});
    }
  }
  return accesses;
}

/// Kernels' masks are ones, then zeros: as many elements as there are ones.
static Value *maskedBytes(IRBuilder<> &builder, const Access &access, uint64_t elementBytes) {
  auto *mask = cast<FixedVectorType>(access.mask->getType());
  Value *bits = builder.CreateBitCast(access.mask, builder.getIntNTy(mask->getNumElements()));
  Value *count = builder.CreateUnaryIntrinsic(
      Intrinsic::ctpop,
      builder.CreateZExt(bits, builder.getIntNTy(std::max(64u, mask->getNumElements()))));
  return builder.CreateMul(builder.CreateZExtOrTrunc(count, builder.getInt64Ty()),
                           builder.getInt64(elementBytes));
}

void llmc::cpu::announceWideAccesses(Module &module) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::getUnqual(context), *i64 = Type::getInt64Ty(context);
  FunctionCallee read =
      module.getOrInsertFunction("__tsan_read_range", Type::getVoidTy(context), pointer, i64);
  FunctionCallee write =
      module.getOrInsertFunction("__tsan_write_range", Type::getVoidTy(context), pointer, i64);
  for (Function &function : module)
    for (const Access &access : wideAccesses(function)) {
      IRBuilder<> builder(access.at);
      const DataLayout &layout = function.getDataLayout();
      Value *bytes =
          access.mask
              ? maskedBytes(builder, access, layout.getTypeStoreSize(access.type->getScalarType()))
              : builder.getInt64(layout.getTypeStoreSize(access.type));
      builder.CreateCall(access.writes ? write : read, {access.pointer, bytes});
    }
}
