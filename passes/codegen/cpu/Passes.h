// SPDX-License-Identifier: Apache-2.0
//
// Passes of the CPU's kernel stage.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace llmc::cpu {

#define GEN_PASS_DECL
#include "passes/codegen/cpu/Passes.h.inc"

/// tile -> llvm for `level` (a name that parseCpuLevel knows).
void addKernelPasses(mlir::OpPassManager &manager, llvm::StringRef level);

/// Makes the passes known to llmc-opt.
void registerPasses();

} // namespace llmc::cpu
