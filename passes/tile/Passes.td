// SPDX-License-Identifier: Apache-2.0
//
// Passes of the `tile` stage.
#ifndef LLMC_PASSES_TILE
#define LLMC_PASSES_TILE

include "mlir/Pass/PassBase.td"

def PackWeightsPass : Pass<"llmc-pack-weights", "::mlir::ModuleOp"> {
  let summary = "gives every weight the packed layout that its kernels read";
  let description = [{
    Weights of linears lie in panels of `panel-rows` rows, so that one program computes that many outputs in lanes. A weight that
    a linear and an embedding share (tied head) is declared twice, since the embedding reads rows.

    ```mlir
    llm.weight @w : !llm.weight<160x64xf32> from ["w"]
    // becomes
    llm.weight @w : !llm.weight<160x64xf32, <panel_rows = 32>> from ["w"]
    ```
  }];
  let options = [Option<"panelRows", "panel-rows", "int64_t", "32", "rows of a panel">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def LowerToTilePass : Pass<"llmc-lower-to-tile", "::mlir::ModuleOp"> {
  let summary = "makes every fused region a block program and a launch";
  let description = [{
    Obeys the schedule of each region. Kernels are shared by all regions of the same kind, shapes, types and schedule, so code size
    does not grow with the number of layers. Refuses regions without a schedule and combinations of ops that no kernel kind covers.

    ```mlir
    %y = llm.fused "o" schedule <row_tile = 2, k_tile = 8> { ... } : tensor<?x64xf32>
    // becomes
    %w = tile.weight @o : !tile.view<2x64x32xf32>
    %y = tile.launch @linear_0 "o" grid(one, 2) chunk 1 (%x, %w) : (tensor<?x64xf32>, !tile.view<2x64x32xf32>) -> tensor<?x64xf32>
    ```
  }];
  let dependentDialects = ["::llmc::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif
