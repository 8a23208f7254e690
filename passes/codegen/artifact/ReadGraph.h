// SPDX-License-Identifier: Apache-2.0
// One graph function becomes one command table. Used by ReadTables.cpp alone.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/codegen/artifact/Tables.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::artifact {

// Numbers of weights, caches and kernels by their symbols.
struct Places {
  llvm::DenseMap<mlir::StringAttr, uint32_t> weights;
  llvm::DenseMap<mlir::StringAttr, uint32_t> caches;
  llvm::DenseMap<mlir::StringAttr, uint32_t> kernels; // filled by readGraph
};

mlir::LogicalResult readGraph(mlir::func::FuncOp function, Places &places, Tables &tables);

} // namespace llmc::artifact
