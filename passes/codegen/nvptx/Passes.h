// SPDX-License-Identifier: Apache-2.0
//
// The pass of the NVPTX kernel stage.
#pragma once

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "passes/codegen/llvm/LowerToLLVM.h"

namespace llmc::nvptx {

#define GEN_PASS_DECL
#include "passes/codegen/nvptx/Passes.h.inc"

/// Makes the pass known to llmc-opt.
void registerPasses();

} // namespace llmc::nvptx
