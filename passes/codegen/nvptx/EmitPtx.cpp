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
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/codegen/llvm/RunGuarded.h"
#include "llvm-c/Target.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;

static std::unique_ptr<llvm::TargetMachine> createMachine(NVVM::NVVMTargetAttr attribute,
                                                          std::string &error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple(attribute.getTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // an fma is one only where the kernel says so
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, attribute.getChip(), attribute.getFeatures(), options,
                                  std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

/// Everything between MLIR and text; an empty `error` means success.
static void generate(gpu::GPUModuleOp kernels, NVVM::NVVMTargetAttr target,
                     llvm::SmallString<0> &text, std::string &error) {
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo *info, void *target) {
        if (info->getSeverity() != llvm::DS_Error)
          return;
        llvm::raw_string_ostream stream(*static_cast<std::string *>(target));
        llvm::DiagnosticPrinterRawOStream printer(stream);
        info->print(printer);
      },
      &error);
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(kernels, context, "kernels");
  std::unique_ptr<llvm::TargetMachine> machine = module ? createMachine(target, error) : nullptr;
  if (!machine) {
    if (error.empty())
      error = "the kernels could not be translated to LLVM IR";
    return;
  }
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  optimise(*module, *machine);
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager generation;
  if (machine->addPassesToEmitFile(generation, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    error = "this LLVM cannot write PTX";
    return;
  }
  generation.run(*module);
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
