// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx=chip=sm_86 | FileCheck %s
// RUN: not llmc-opt %s --llmc-lower-tile-to-nvptx=chip=sm_9000 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: unknown chip 'sm_9000', expected sm_80, sm_86 or sm_87

// A name that is taken is left alone, and so are launches, whose kernel is now in the module of the target.

// CHECK: func.func private @kernels
// CHECK: tile.launch @store
// CHECK: gpu.module @kernels_ [#nvvm.target<O = 3, chip = "sm_86"
// CHECK: llvm.func @store
func.func private @kernels()
func.func @graph(%step: !tile.step) {
  %y = tile.slice rows offset 0 : !tile.view<?x8xf32>
  tile.launch @store "store" grid(rows, 1) chunk 1 (%y) : (!tile.view<?x8xf32>) -> ()
  return
}
tile.kernel @store(%step: !tile.step, %y: !tile.view<?x8xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<1.0> : tensor<8xf32>
  tile.store %a, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}
