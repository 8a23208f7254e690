// SPDX-License-Identifier: Apache-2.0
//
// llmc-reduce: makes a module small that a script finds interesting, for fault reports and lit
// tests.
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipeline.h"
#include "tools/llmc-opt/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmc::registerDialects(registry);
  llmc::registerPasses();
  mlir::registerTransformsPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
