// SPDX-License-Identifier: Apache-2.0
//
// Translates the kernels to LLVM IR, optimises them (O3), and generates code. LLVM ends the process on some errors; here
// it comes back through a crash recovery point instead.
#include "passes/codegen/cpu/EmitObject.h"
#include "llvm-c/Target.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "passes/codegen/cpu/InstrumentThreads.h"
#include "passes/codegen/llvm/EmitCode.h"
#include "passes/codegen/llvm/RunGuarded.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::cpu;

static constexpr const char *kTriple = "x86_64-unknown-linux-gnu";

/// The kernels alone, under their prefixed names, in a module of their own.
static OwningOpRef<ModuleOp> extractKernels(ModuleOp module, StringRef prefix) {
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto copy = cast<LLVM::LLVMFuncOp>(builder.clone(*function));
    if (!copy.isExternal())
      copy.setSymName((prefix + copy.getSymName()).str());
  }
  return kernels;
}

static std::unique_ptr<llvm::TargetMachine> machineFor(const CpuLevel &level, std::string &error) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::TargetOptions options = strictOptions();
  options.FunctionSections = true;
  options.DataSections = true;
  return createMachine(llvm::Triple(kTriple), "x86-64", level.llvmFeatures, options, llvm::Reloc::PIC_, error);
}

static void setFunctionAttributes(llvm::Module &module, const CpuLevel &level) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", "x86-64");
    function.addFnAttr("target-features", level.llvmFeatures);
    function.addFnAttr("tune-cpu", level.tuneFor);
    function.addFnAttr("prefer-vector-width", std::to_string(level.vectorBytes * 8));
  }
}

/// For tests: ThreadSanitizer sees every access of the optimised kernels.
static void instrument(llvm::Module &module, llvm::TargetMachine &machine) {
  announceWideAccesses(module);
  requestThreadSanitizer(module);
  runPasses(module, machine, [](llvm::PassBuilder &, llvm::ModulePassManager &passes) {
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  });
}

/// Names that the object needs from elsewhere and that no executor provides.
static SmallVector<std::string> unexpectedSymbols(ArrayRef<char> object, bool instrumentThreads) {
  SmallVector<std::string> names;
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "kernels"));
  if (!file) {
    names.push_back(llvm::toString(file.takeError()));
    return names;
  }
  for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      continue;
    }
    bool isOurs = *name == "memcpy" || *name == "memset" || *name == "memmove" || name->empty() ||
                  (instrumentThreads && name->starts_with("__tsan_"));
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) && !isOurs)
      names.push_back(name->str());
  }
  return names;
}

/// Everything between MLIR and bytes; an empty `error` means success.
static void generate(ModuleOp kernels, const CpuLevel &level, EmitKind kind, const EmitOptions &options,
                     llvm::SmallVector<char, 0> &bytes, std::string &error) {
  std::unique_ptr<llvm::TargetMachine> machine = machineFor(level, error);
  if (!machine)
    return;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateToLLVMIR(kernels, context, *machine, error);
  if (!module)
    return;
  module->setPICLevel(llvm::PICLevel::BigPIC);
  setFunctionAttributes(*module, level);
  optimise(*module, *machine);
  if (options.instrumentThreads)
    instrument(*module, *machine);
  if (kind == EmitKind::LLVMIR) {
    llvm::raw_svector_ostream stream(bytes);
    module->print(stream, nullptr);
    return;
  }
  auto type = kind == EmitKind::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (!generateCode(*module, *machine, type, bytes))
    error = "this LLVM cannot write that kind of file";
}

FailureOr<llvm::SmallVector<char, 0>> llmc::cpu::emit(ModuleOp module, const CpuLevel &level, EmitKind kind,
                                                      const EmitOptions &options) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  OwningOpRef<ModuleOp> kernels = extractKernels(module, options.prefix);
  llvm::SmallVector<char, 0> bytes;
  std::string error;
  std::string fatal;
  bool finished = runGuarded([&] { generate(*kernels, level, kind, options, bytes, error); }, fatal);
  if (!finished || !error.empty())
    return module.emitError() << "no code for CPU level " << level.name << ": " << (finished ? error : fatal);
  if (kind == EmitKind::Object) {
    SmallVector<std::string> unexpected = unexpectedSymbols(bytes, options.instrumentThreads);
    if (!unexpected.empty())
      return module.emitError() << "code for CPU level " << level.name << " needs '" << llvm::join(unexpected, "', '")
                                << "', expected nothing but memcpy, memmove and memset";
  }
  return bytes;
}
