// SPDX-License-Identifier: Apache-2.0
//
// Passes of the CPU's kernel stage, in the order they run.
#ifndef LLMC_PASSES_CODEGEN_CPU_PASSES
#define LLMC_PASSES_CODEGEN_CPU_PASSES

include "mlir/Pass/PassBase.td"

def LowerTileToCPUPass : Pass<"llmc-lower-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "turn each block program into a function that runs a range of programs";
  let description = [{
    Assumes: verified `tile.kernel`s; the attribute `tile.inner` of a kernel is the inner size of its grid (1 where it is missing).
    Guarantees: each is an `llvm.func` of the signature `llmc_kernel_fn` (abi.h) with hidden visibility, whose body holds `scf`, `arith`,
    `math`, `vector` and `llvm` ops on scalars, pointers and rank-1 vectors. The sums of `tile.dot` and `tile.reduce` are in the
    order that TileOps.td states, whatever the level. Other ops of the module stay as they are.

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
    After (operands 0 and 1 are `table[slots[0]]` and `table[slots[1]]`):
    ```mlir
    llvm.func hidden @copy(%table: !llvm.ptr, %slots: !llvm.ptr, %step: !llvm.ptr, %begin: i32, %end: i32) {
      ...
      scf.for %program = %first to %last step %c1 {
        ...
        %a = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
        llvm.store %a, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
      }
      llvm.return
    }
    ```
  }];
  let options = [Option<"level", "level", "std::string", "\"x86-64-v3\"", "instruction-set level: sizes the register blocks">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerKernelsToLLVMPass : Pass<"llmc-lower-kernels-to-llvm", "::mlir::ModuleOp"> {
  let summary = "leave nothing but LLVM ops in the kernels";
  let description = [{
    Assumes: the output of `llmc-lower-tile-to-cpu`. Guarantees: `llvm.func`s hold `llvm` ops only, and no call of a maths
    library: exp, tanh and erf become polynomials (errors: README.md).

    Before:
    ```mlir
    llvm.func @k(%x: vector<8xf32>) -> vector<8xf32> {
      %y = arith.addf %x, %x : vector<8xf32>
      llvm.return %y : vector<8xf32>
    }
    ```
    After:
    ```mlir
    llvm.func @k(%x: vector<8xf32>) -> vector<8xf32> {
      %y = llvm.fadd %x, %x : vector<8xf32>
      llvm.return %y : vector<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}

#endif
