// SPDX-License-Identifier: Apache-2.0
//
// Passes of the `memory` stage, in the order they run.
#ifndef LLMC_PASSES_MEMORY
#define LLMC_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def PlaceWeightsPass : Pass<"llmc-place-weights", "::mlir::ModuleOp"> {
  let summary = "gives weights and caches their places";
  let description = [{
    Weights lie one after the other, 64-byte aligned, in the order of the module; caches side by side inside a chunk block.

    ```mlir
    llm.weight @norm : !llm.weight<64xf32> from ["norm"]
    // becomes
    tile.packed @norm 1 x 64 of f32 panel_rows 0 offset 0 bytes 256 {sources = ["norm"]}
    ```
  }];
  let dependentDialects = ["::llmc::tile::TileDialect"];
}

def PlanArenaPass : Pass<"llmc-plan-arena", "::mlir::ModuleOp"> {
  let summary = "gives every value between launches a place in the session's arena";
  let description = [{
    Values whose lives do not overlap share a place (first fit, largest line first at equal birth). Sizes are per row (or output), so
    the plan is exact for any session: `llm.rows_arena_bytes` * rows + `llm.outputs_arena_bytes` * outputs.

    ```mlir
    %y = tile.launch @k "y" grid(rows, 1) chunk 1 (%x) : (tensor<?x64xf32>) -> tensor<?x64xf32>
    // becomes
    %y = tile.slice rows offset 256 : !tile.view<?x64xf32>
    tile.launch @k "y" grid(rows, 1) chunk 1 (%x, %y) : (!tile.view<?x64xf32>, !tile.view<?x64xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::llmc::tile::TileDialect", "::mlir::func::FuncDialect"];
}

def SetDependenciesPass : Pass<"llmc-set-dependencies", "::mlir::ModuleOp"> {
  let summary = "tells every launch which earlier one must be complete before";
  let description = [{
    The last earlier launch that touches the same bytes of an arena or the same cache, where one of the two writes.
  }];
  let dependentDialects = ["::llmc::tile::TileDialect"];
}

#endif
