// SPDX-License-Identifier: Apache-2.0
//
// Parses, lowers and emits, with the diagnostics as text.
#include "test/passes/codegen/nvptx/Ptx.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/codegen/nvptx/EmitPtx.h"
#include "passes/codegen/nvptx/Passes.h"

using namespace mlir;

std::string llmc::nvptx::test::ptxOf(const std::string &source, std::string &errors, bool lower) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      gpu::GPUDialect, NVVM::NVVMDialect, LLVM::LLVMDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return "";
  PassManager passes(&context);
  passes.addPass(createLowerTileToNVPTXPass());
  if (lower && failed(passes.run(*module)))
    return "";
  FailureOr<std::string> ptx = emitPtx(*module);
  return succeeded(ptx) ? *ptx : "";
}
