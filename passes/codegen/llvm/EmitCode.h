// SPDX-License-Identifier: Apache-2.0
//
// From MLIR in LLVM's dialect to machine code or text: what every target does in the same way.
// Errors come back as text; those that would end the process are RunGuarded's matter.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Support/CodeGen.h"
#include <memory>
#include <optional>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class PassBuilder;
class TargetMachine;
class TargetOptions;
class Triple;
} // namespace llvm

namespace mlir {
class Operation;
}

namespace llmc {

/// Only what a kernel says: an fma is one nowhere else.
llvm::TargetOptions strictOptions();

/// O3, for x86-64 and NVPTX, from any thread; null, and the reason in `error`, where this LLVM has no target for `triple`.
std::unique_ptr<llvm::TargetMachine>
createMachine(const llvm::Triple &triple, llvm::StringRef processor, llvm::StringRef features,
              const llvm::TargetOptions &options, std::optional<llvm::Reloc::Model> relocation,
              std::string &error);

/// `kernels` as LLVM IR for `machine`; null, and the reason in `error`, where that fails. Errors
/// that LLVM reports in `context` later on go to `error` too, which has to outlive it.
std::unique_ptr<llvm::Module> translateToLLVMIR(mlir::Operation *kernels,
                                                llvm::LLVMContext &context,
                                                llvm::TargetMachine &machine, std::string &error);

/// Passes that `add` chooses, with their analyses.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine,
               llvm::function_ref<void(llvm::PassBuilder &, llvm::ModulePassManager &)> add);

/// LLVM's O3.
void optimise(llvm::Module &module, llvm::TargetMachine &machine);

/// Appends the code of `module`; false where this LLVM cannot write files of that type.
bool generateCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                  llvm::SmallVectorImpl<char> &bytes);

} // namespace llmc
