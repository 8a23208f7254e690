// SPDX-License-Identifier: Apache-2.0
#include "test/passes/codegen/cpu/KernelHarness.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/codegen/cpu/EmitObject.h"
#include "passes/codegen/cpu/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace llmc::cpu::test {

struct CompiledKernels::Linked {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

CompiledKernels::~CompiledKernels() = default;

static EmitKind emitKind(CompileOptions::Kind kind) {
  return kind == CompileOptions::Object     ? EmitKind::Object
         : kind == CompileOptions::Assembly ? EmitKind::Assembly
                                            : EmitKind::LLVMIR;
}

/// Lowers `source` and lets `emit` make code of it.
static void emitLowered(const std::string &source, const std::string &levelName, MLIRContext::Threading threading,
                        std::string *errors, llvm::function_ref<void(ModuleOp, const CpuLevel &)> emit) {
  std::string diagnostics;
  std::optional<CpuLevel> level = parseCpuLevel(levelName, diagnostics);
  DialectRegistry registry;
  registry.insert<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  func::FuncDialect, LLVM::LLVMDialect>();
  MLIRContext context(registry, threading);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  if (level)
    if (OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context)) {
      PassManager passes(&context);
      addKernelPasses(passes, levelName);
      if (succeeded(passes.run(*module)))
        emit(*module, *level);
    }
  if (errors)
    *errors = diagnostics;
  else
    EXPECT_EQ(diagnostics, "");
}

std::string compile(const std::string &source, const CompileOptions &options, std::string *errors) {
  std::string text;
  emitLowered(source, options.level, MLIRContext::Threading::DISABLED, errors, [&](ModuleOp module, const CpuLevel &level) {
    if (auto bytes = emit(module, level, emitKind(options.kind), {options.prefix, options.instrumentThreads}); succeeded(bytes))
      text.assign(bytes->begin(), bytes->end());
  });
  return text;
}

std::vector<std::string> compileObjects(const std::string &source, bool withThreads, std::string *errors) {
  std::vector<std::string> objects;
  auto threading = withThreads ? MLIRContext::Threading::ENABLED : MLIRContext::Threading::DISABLED;
  emitLowered(source, "native", threading, errors, [&](ModuleOp module, const CpuLevel &level) {
    if (auto made = emitObjects(module, level); succeeded(made))
      objects = std::move(*made);
  });
  return objects;
}

std::vector<std::string> levelsHere() {
  std::string error;
  std::optional<CpuLevel> native = parseCpuLevel("native", error);
  std::vector<std::string> names;
  for (llvm::StringRef name : cpuLevelNames())
    if (std::optional<CpuLevel> level = parseCpuLevel(name, error);
        level && native && !(level->features & ~native->features))
      names.push_back(name.str());
  return names;
}

CompiledKernels::CompiledKernels(const std::string &source, const std::string &level) {
  step.struct_size = sizeof(step);
  step.n_rows = step.n_sequences = step.page_chunks = 1;
  CompileOptions options;
  options.level = level;
  std::string object = compile(source, options);
  if (object.empty()) {
    ADD_FAILURE() << "no object for " << source;
    return;
  }
  llvm::ExitOnError check("linking the kernels: ");
  linked = std::make_unique<Linked>();
  linked->jit = check(llvm::orc::LLJITBuilder().create());
  check(linked->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "kernels")));
}

void CompiledKernels::run(const std::string &kernel, std::vector<void *> operands, uint32_t begin,
                          uint32_t end) {
  ASSERT_NE(linked, nullptr);
  auto address = linked->jit->lookup(kernel);
  if (!address)
    FAIL() << llvm::toString(address.takeError());
  // Operands lie in reverse in the table, so that a kernel that ignores its slots is caught.
  std::vector<void *> table(operands.rbegin(), operands.rend());
  std::vector<uint16_t> slots;
  for (size_t i = operands.size(); i-- > 0;)
    slots.push_back(uint16_t(i));
  address->toPtr<llmc_kernel_fn>()(table.data(), slots.data(), &step, begin, end);
}

std::vector<float> randomFloats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = float(int32_t(generator())) / 2147483648.0f;
  return numbers;
}

double ulps(float value, double expected) {
  float nearest = std::fabs(float(expected));
  double unit = double(std::nextafter(nearest, INFINITY)) - double(nearest);
  return std::fabs(double(value) - expected) / unit;
}

size_t differences(const std::vector<float> &a, const std::vector<float> &b) {
  size_t count = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    count += std::memcmp(&a[i], &b[i], sizeof(float)) != 0;
  return count;
}

} // namespace llmc::cpu::test
