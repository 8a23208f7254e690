// SPDX-License-Identifier: Apache-2.0
//
// The `memory` stage: every value and weight gets a place, every launch its dependency.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace llmc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "MemoryPasses.h.inc"

/// Module attributes that the memory stage writes (bytes, i64).
inline constexpr llvm::StringLiteral kRowsArenaAttrName = "llm.rows_arena_bytes";
inline constexpr llvm::StringLiteral kOutputsArenaAttrName = "llm.outputs_arena_bytes";
inline constexpr llvm::StringLiteral kChunkBytesAttrName = "llm.chunk_bytes";
} // namespace llmc
