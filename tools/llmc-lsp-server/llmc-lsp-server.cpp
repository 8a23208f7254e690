// SPDX-License-Identifier: Apache-2.0
//
// llmc-lsp-server: an editor's view of .mlir files in llm and tile (errors, definitions, hovers),
// over stdin and stdout.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tools/llmc-opt/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmc::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
