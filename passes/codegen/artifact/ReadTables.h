// SPDX-License-Identifier: Apache-2.0
// From the module at the end of the memory stage to plain tables.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/artifact/Tables.h"

namespace llmc::artifact {

// Reads graph functions (attribute `llm.graph`), `tile.packed`, `tile.placed_cache` and the module
// attributes `llm.rows_arena_bytes`, `llm.outputs_arena_bytes`, `llm.chunk_bytes` and `llm.limits`.
// Kernels are named by the launches, so their bodies may be lowered or gone already. What does not
// fit the command table is an error at its op.
mlir::FailureOr<Tables> readTables(mlir::ModuleOp module);

} // namespace llmc::artifact
