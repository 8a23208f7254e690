// SPDX-License-Identifier: Apache-2.0
//
// llmc-opt: runs passes and stages on a module, for people who write passes and for lit tests.
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"
#include "tools/llmc-opt/Registration.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmc::registerDialects(registry);
  llmc::registerPasses();
  mlir::registerTransformsPasses();
  llvm::cl::opt<bool> printStages(
      "print-stages", llvm::cl::desc("Print the stages of the road, in order, and stop"));
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "llmc optimiser driver\n", registry);
  if (printStages) {
    for (const llmc::Stage &stage : llmc::stages())
      llvm::outs() << llvm::formatv("{0,-9}{1}\n", stage.name.data(), stage.sentence);
    return 0;
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
