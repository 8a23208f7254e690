// SPDX-License-Identifier: Apache-2.0
//
// The last step of a kernel inside MLIR.
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/llvm/LowerToLLVM.h"

namespace llmc::cpu {
#define GEN_PASS_DEF_LOWERKERNELSTOLLVMPASS
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace llmc::cpu

using namespace mlir;

namespace {
struct LowerKernelsToLLVM : llmc::cpu::impl::LowerKernelsToLLVMPassBase<LowerKernelsToLLVM> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (failed(llmc::lowerToLLVM(function)))
        return signalPassFailure();
  }
};
} // namespace
