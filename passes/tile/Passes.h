// SPDX-License-Identifier: Apache-2.0
//
// The `tile` stage: llm -> tile, target-neutral.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "TilePasses.h.inc"
} // namespace llmc
