// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx --llmc-lower-tile-to-nvptx | FileCheck %s

// Without block programs nothing happens: a second run makes no second module.

// CHECK-COUNT-1: gpu.module
// CHECK-NOT: gpu.module
tile.kernel @store(%step: !tile.step, %y: !tile.view<?x8xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<1.0> : tensor<8xf32>
  tile.store %a, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}
