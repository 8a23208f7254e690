// SPDX-License-Identifier: Apache-2.0
//
// Translates the kernels to LLVM IR, optimises them (O3), and generates PTX.
#include "passes/codegen/nvptx/EmitPtx.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "passes/codegen/llvm/EmitCode.h"
#include "passes/codegen/llvm/RunGuarded.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;
using namespace llmc;

/// Everything between MLIR and text; an empty `error` means success.
static void generate(gpu::GPUModuleOp kernels, NVVM::NVVMTargetAttr target,
                     llvm::SmallString<0> &text, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine(llvm::Triple(target.getTriple()), target.getChip(), target.getFeatures(),
                    strictOptions(), std::nullopt, error);
  if (!machine)
    return;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateToLLVMIR(kernels, context, *machine, error);
  if (!module)
    return;
  optimise(*module, *machine);
  if (!generateCode(*module, *machine, llvm::CodeGenFileType::AssemblyFile, text))
    error = "this LLVM cannot write PTX";
}

FailureOr<std::string> llmc::nvptx::emitPtx(ModuleOp module) {
  SmallVector<gpu::GPUModuleOp> kernels(module.getOps<gpu::GPUModuleOp>());
  if (kernels.size() != 1)
    return module.emitError() << "expects one gpu.module, found " << kernels.size()
                              << ": run llmc-lower-tile-to-nvptx on its kernels";
  ArrayAttr targets = kernels.front().getTargetsAttr();
  auto target = targets && targets.size() == 1 ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                                               : NVVM::NVVMTargetAttr();
  if (!target)
    return kernels.front().emitError()
           << "expects one #nvvm.target, found " << (targets ? targets.size() : 0) << " targets";
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  llvm::SmallString<0> text;
  std::string error, fatal;
  bool finished = runGuarded([&] { generate(kernels.front(), target, text, error); }, fatal);
  if (!finished || !error.empty())
    return module.emitError() << "no PTX for " << target.getChip() << ": "
                              << (finished ? error : fatal);
  return text.str().str();
}
