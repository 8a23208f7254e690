// SPDX-License-Identifier: Apache-2.0
//
// llmc-opt: runs passes and stages on a module, for people who write passes and for lit tests.
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"
#include "tools/llmc-opt/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmc::registerDialects(registry);
  llmc::registerPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "llmc optimiser driver\n", registry));
}
