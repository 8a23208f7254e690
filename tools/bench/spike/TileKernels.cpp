// SPDX-License-Identifier: Apache-2.0
//
// The compiler's stages, then LLVM's in-process linker.
#include "tools/bench/spike/TileKernels.h"
#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipeline.h"
#include "passes/codegen/cpu/EmitObject.h"
#include "passes/codegen/cpu/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;

struct TileKernels::Linked {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

TileKernels::TileKernels(TileKernels &&) = default;
TileKernels::~TileKernels() = default;

namespace {

/// A context whose diagnostics become text.
class Compilation {
public:
  explicit Compilation(std::string &error)
      : context(registry(), MLIRContext::Threading::DISABLED),
        handler(&context, [&error](Diagnostic &diagnostic) {
          error += diagnostic.str() + "\n";
          return success();
        }) {}

  bool run(ModuleOp module, llvm::function_ref<void(PassManager &)> add) {
    PassManager passes(&context);
    add(passes);
    return succeeded(passes.run(module));
  }

  /// Code of a module that holds tile programs only.
  std::string objectOf(ModuleOp module, const llmc::cpu::CpuLevel &level) {
    if (!run(module, [&](PassManager &passes) { llmc::cpu::addKernelPasses(passes, level.name); }))
      return "";
    auto object = llmc::cpu::emit(module, level, llmc::cpu::EmitKind::Object);
    return succeeded(object) ? std::string(object->begin(), object->end()) : "";
  }

  MLIRContext context;

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registry.insert<llmc::tile::TileDialect, llmc::llm::LLMDialect, func::FuncDialect,
                    arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
    return registry;
  }

  ScopedDiagnosticHandler handler;
};

std::string objectOfRegions(const std::string &text, const std::string &levelName,
                            const std::string &schedule, std::string &error) {
  std::optional<llmc::cpu::CpuLevel> level = llmc::cpu::parseCpuLevel(levelName, error);
  if (!level)
    return "";
  Compilation compilation(error);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &compilation.context);
  llmc::PipelineOptions options;
  options.target = "cpu:" + levelName;
  options.schedule = schedule;
  if (!module || !compilation.run(*module, [&](PassManager &passes) {
        llmc::addStages(passes, "graph", "tile", options);
      }))
    return "";
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module->getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  for (auto kernel : module->getOps<llmc::tile::KernelOp>())
    builder.clone(*kernel);
  return compilation.objectOf(*kernels, *level);
}

std::string objectOfFile(const std::string &path, std::string &error) {
  std::optional<llmc::cpu::CpuLevel> level = llmc::cpu::parseCpuLevel("native", error);
  if (!level)
    return "";
  Compilation compilation(error);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &compilation.context);
  return module ? compilation.objectOf(*module, *level) : "";
}

} // namespace

TileKernels::TileKernels(const std::string &path, std::string &error) {
  link(objectOfFile(path, error), error);
}

TileKernels TileKernels::ofRegions(const std::string &module, const std::string &level,
                                   const std::string &schedule, std::string &error) {
  TileKernels kernels;
  kernels.link(objectOfRegions(module, level, schedule, error), error);
  return kernels;
}

void TileKernels::link(const std::string &object, std::string &error) {
  if (object.empty())
    return;
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    error = llvm::toString(jit.takeError());
    return;
  }
  if (llvm::Error failure =
          (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "kernels"))) {
    error = llvm::toString(std::move(failure));
    return;
  }
  linked = std::make_unique<Linked>();
  linked->jit = std::move(*jit);
}

llmc_kernel_fn TileKernels::find(const std::string &name) const {
  if (!linked)
    return nullptr;
  auto address = linked->jit->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<llmc_kernel_fn>();
}
