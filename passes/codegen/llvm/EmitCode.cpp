// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/llvm/EmitCode.h"
#include "mlir/IR/Operation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

llvm::TargetOptions llmc::strictOptions() {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return options;
}

/// Once: LLVM's own registration must not run in two threads at a time.
static void registerTargets() {
  [[maybe_unused]] static const bool areThere = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
}

std::unique_ptr<llvm::TargetMachine>
llmc::createMachine(const llvm::Triple &triple, llvm::StringRef processor, llvm::StringRef features,
                    const llvm::TargetOptions &options,
                    std::optional<llvm::Reloc::Model> relocation, std::string &error) {
  registerTargets();
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, processor, features, options, relocation, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    error = "this LLVM has no code generator for " + triple.str();
  return machine;
}

static void appendError(const llvm::DiagnosticInfo *info, void *target) {
  if (info->getSeverity() != llvm::DS_Error)
    return;
  llvm::raw_string_ostream stream(*static_cast<std::string *>(target));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
}

std::unique_ptr<llvm::Module> llmc::translateToLLVMIR(mlir::Operation *kernels,
                                                      llvm::LLVMContext &context,
                                                      llvm::TargetMachine &machine,
                                                      std::string &error) {
  context.setDiagnosticHandlerCallBack(appendError, &error);
  std::unique_ptr<llvm::Module> module = mlir::translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module) {
    if (error.empty())
      error = "the kernels could not be translated to LLVM IR";
    return nullptr;
  }
  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  return module;
}

void llmc::runPasses(llvm::Module &module, llvm::TargetMachine &machine,
                     llvm::function_ref<void(llvm::PassBuilder &, llvm::ModulePassManager &)> add) {
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
  llvm::ModulePassManager passes;
  add(builder, passes);
  passes.run(module, modules);
}

void llmc::optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  runPasses(module, machine, [](llvm::PassBuilder &builder, llvm::ModulePassManager &passes) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  });
}

bool llmc::generateCode(llvm::Module &module, llvm::TargetMachine &machine,
                        llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  return true;
}
