// SPDX-License-Identifier: Apache-2.0
//
// The order of the CPU's kernel stage.
#include "passes/codegen/cpu/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace llmc::cpu {
#define GEN_PASS_REGISTRATION
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace llmc::cpu

void llmc::cpu::registerPasses() { registerCpuPasses(); }

void llmc::cpu::addKernelPasses(mlir::OpPassManager &manager, llvm::StringRef level) {
  manager.addPass(createLowerTileToCPUPass({level.str()}));
  manager.addPass(createLowerKernelsToLLVMPass());
}
