// SPDX-License-Identifier: Apache-2.0
//
// The compiler's kernel stage, then LLVM's in-process linker.
#include "tools/bench/spike/TileKernels.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/codegen/cpu/EmitObject.h"
#include "passes/codegen/cpu/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;

struct TileKernels::Linked {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

TileKernels::~TileKernels() = default;

static std::string compile(const std::string &path, std::string &error) {
  std::optional<llmc::cpu::CpuLevel> level = llmc::cpu::parseCpuLevel("native", error);
  if (!level)
    return "";
  DialectRegistry registry;
  registry
      .insert<llmc::tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
  PassManager passes(&context);
  llmc::cpu::addKernelPasses(passes, level->name);
  if (!module || failed(passes.run(*module)))
    return "";
  auto object = llmc::cpu::emit(*module, *level, llmc::cpu::EmitKind::Object);
  return succeeded(object) ? std::string(object->begin(), object->end()) : "";
}

TileKernels::TileKernels(const std::string &path, std::string &error) {
  std::string object = compile(path, error);
  if (object.empty())
    return;
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    error = llvm::toString(jit.takeError());
    return;
  }
  if (llvm::Error failure =
          (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, path))) {
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
