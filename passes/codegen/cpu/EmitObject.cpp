// SPDX-License-Identifier: Apache-2.0
//
// Translates the kernels to LLVM IR, optimises them (O3), and generates code. LLVM ends the process on some errors; here
// it comes back through a crash recovery point instead.
#include "passes/codegen/cpu/EmitObject.h"
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
#include <thread>

using namespace mlir;
using namespace llmc;
using namespace llmc::cpu;

static constexpr const char *kTriple = "x86_64-unknown-linux-gnu";

/// More objects than processors, so that these end together; each has some fixed cost.
static constexpr size_t kMostObjects = 8;

using Kernels = std::vector<OwningOpRef<ModuleOp>>;

/// The kernels alone, under their prefixed names, in up to `most` modules of their own: the largest first, each to where the least
/// is so far.
static Kernels extractKernels(ModuleOp module, StringRef prefix, size_t most) {
  struct Sized {
    LLVM::LLVMFuncOp function;
    size_t ops;
  };
  std::vector<Sized> defined;
  std::vector<LLVM::LLVMFuncOp> declared;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    size_t ops = 0;
    function->walk([&](Operation *) { ++ops; });
    if (function.isExternal())
      declared.push_back(function);
    else
      defined.push_back({function, ops});
  }
  if (most > 1)
    llvm::stable_sort(defined, [](const Sized &a, const Sized &b) { return a.ops > b.ops; });
  Kernels parts(std::max<size_t>(1, std::min(most, defined.size())));
  for (OwningOpRef<ModuleOp> &part : parts) {
    part = ModuleOp::create(module.getLoc());
    for (LLVM::LLVMFuncOp function : declared)
      part->push_back(function.clone());
  }
  std::vector<size_t> sizes(parts.size());
  for (Sized &kernel : defined) {
    size_t least = size_t(llvm::min_element(sizes) - sizes.begin());
    sizes[least] += kernel.ops;
    LLVM::LLVMFuncOp copy = kernel.function.clone();
    copy.setSymName((prefix + copy.getSymName()).str());
    parts[least]->push_back(copy);
  }
  return parts;
}

static std::unique_ptr<llvm::TargetMachine> machineFor(const CpuLevel &level, std::string &error) {
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

/// Code of each part of the kernels.
static FailureOr<std::vector<llvm::SmallVector<char, 0>>> emitParts(ModuleOp module, const CpuLevel &level, EmitKind kind,
                                                                    const EmitOptions &options, size_t most) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  module.getContext()->appendDialectRegistry(registry);
  Kernels kernels = extractKernels(module, options.prefix, most);
  std::vector<llvm::SmallVector<char, 0>> parts(kernels.size());
  std::vector<std::string> errors(kernels.size());
  std::string fatal;
  size_t threads = module.getContext()->isMultithreadingEnabled() ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  auto generatePart = [&](size_t i) { generate(*kernels[i], level, kind, options, parts[i], errors[i]); };
  if (!runGuarded(kernels.size(), threads, generatePart, fatal))
    return module.emitError() << "no code for CPU level " << level.name << ": " << fatal;
  for (const std::string &error : errors)
    if (!error.empty())
      return module.emitError() << "no code for CPU level " << level.name << ": " << error;
  for (const llvm::SmallVector<char, 0> &part : parts) {
    if (kind != EmitKind::Object)
      break;
    SmallVector<std::string> unexpected = unexpectedSymbols(part, options.instrumentThreads);
    if (!unexpected.empty())
      return module.emitError() << "code for CPU level " << level.name << " needs '" << llvm::join(unexpected, "', '")
                                << "', expected nothing but memcpy, memmove and memset";
  }
  return parts;
}

FailureOr<llvm::SmallVector<char, 0>> llmc::cpu::emit(ModuleOp module, const CpuLevel &level, EmitKind kind,
                                                      const EmitOptions &options) {
  FailureOr<std::vector<llvm::SmallVector<char, 0>>> parts = emitParts(module, level, kind, options, 1);
  if (failed(parts))
    return failure();
  return std::move(parts->front());
}

FailureOr<std::vector<std::string>> llmc::cpu::emitObjects(ModuleOp module, const CpuLevel &level, const EmitOptions &options) {
  FailureOr<std::vector<llvm::SmallVector<char, 0>>> parts = emitParts(module, level, EmitKind::Object, options, kMostObjects);
  if (failed(parts))
    return failure();
  std::vector<std::string> objects;
  for (const llvm::SmallVector<char, 0> &part : *parts)
    objects.emplace_back(part.begin(), part.end());
  return objects;
}
