// SPDX-License-Identifier: Apache-2.0
//
// Passes of the NVPTX kernel stage.
#ifndef LLMC_PASSES_CODEGEN_NVPTX_PASSES
#define LLMC_PASSES_CODEGEN_NVPTX_PASSES

include "mlir/Pass/PassBase.td"

def LowerTileToNVPTXPass : Pass<"llmc-lower-tile-to-nvptx", "::mlir::ModuleOp"> {
  let summary = "turn each block program into a GPU kernel that one warp runs";
  let description = [{
    Assumes: verified `tile.kernel`s; the attribute `tile.inner` of a kernel is the inner size of its
    grid (1 where it is missing).
    Guarantees: each is a kernel in one `gpu.module` for `chip`, of LLVM and NVVM ops alone; programs
    are blocks of 32 threads. Parameters: an address in global memory for each view or cache, in
    order, then the address of an `llmc_step` (abi.h) whose arrays are in global memory, then the
    number of the first program as i32; the grid's size is the number of programs. The sums of
    `tile.dot` and `tile.reduce` are in the order that TileOps.td states. Other ops of the module stay
    as they are. Refuses: an op without a lowering; a kernel that reads what it writes.

    Element i of a tile is in lane i mod 32, as its (i / 32)-th; a tile of up to 32 elements is one
    number a lane.

    Before:
    ```mlir
    tile.kernel @copy(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) {
      %r = tile.program_id line
      %c0 = arith.constant 0 : index
      %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
      tile.store %a, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
      tile.return
    }
    ```
    After:
    ```mlir
    gpu.module @kernels [#nvvm.target<chip = "sm_80", features = "+ptx70">] {
      llvm.func @copy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %step: !llvm.ptr<1>, %first: i32)
          attributes {nvvm.kernel, nvvm.reqntid = array<i32: 32>} {
        %lane = nvvm.read.ptx.sreg.tid.x : i32
        ...
        llvm.cond_br %lane_below_8, ^load, ^idle
      ...
    ```
  }];
  let options = [Option<"chip", "chip", "std::string", "\"sm_80\"", "what the kernels are for">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
