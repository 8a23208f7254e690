// SPDX-License-Identifier: Apache-2.0
//
// The last step of a kernel inside MLIR, the same for every target that goes through LLVM: one set
// of polynomials, so exp, tanh and erf are the same function on all of them.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace llmc {

/// Leaves nothing but LLVM ops, and those of the target's `ownDialect`, in a function of scf,
/// arith, math and vector ops. No call of a maths library: exp, tanh and erf become polynomials.
/// The errors are reported.
mlir::LogicalResult lowerToLLVM(mlir::LLVM::LLVMFuncOp function, llvm::StringRef ownDialect = "");

} // namespace llmc
