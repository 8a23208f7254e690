// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx | FileCheck %s

// In-lane halves first, then butterflies: the tree that TileOps.td states.

// CHECK-LABEL: llvm.func @reduce(
// CHECK-DAG: %[[D16:.*]] = llvm.mlir.constant(16 : i32)
// CHECK-DAG: %[[D8:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG: %[[D4:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG: %[[D2:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG: %[[D1:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[SUM32:.*]] = llvm.fadd %{{.*}}, %{{.*}} : f32
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[SUM32]], %[[D16]],
// CHECK: %[[SUM16:.*]] = llvm.fadd %[[SUM32]], %[[OTHER]]
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[SUM16]], %[[D8]],
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[D4]],
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[D2]],
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[D1]],
// CHECK-NOT: nvvm.shfl.sync
tile.kernel @reduce(%step: !tile.step, %x: !tile.view<64xf32>, %y: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %s = tile.reduce add %a : tensor<64xf32> -> f32
  tile.store %s, %y[%c0] : f32, !tile.view<1xf32>
  tile.return
}

// A narrow tile is reduced by its own lanes, and all others take the result of lane 0.

// CHECK-LABEL: llvm.func @reduce_narrow(
// CHECK: %[[D2:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.load
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %[[D2]],
// CHECK: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync bfly
// CHECK: nvvm.shfl.sync idx
tile.kernel @reduce_narrow(%step: !tile.step, %x: !tile.view<4xf32>, %y: !tile.view<1xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<4xf32> -> tensor<4xf32>
  %s = tile.reduce max %a : tensor<4xf32> -> f32
  tile.store %s, %y[%c0] : f32, !tile.view<1xf32>
  tile.return
}

// A row that is a plain load is read by all lanes from where it lies.

// CHECK-LABEL: llvm.func @dot(
// CHECK-COUNT-2: llvm.intr.fma
// CHECK-NOT: nvvm.shfl.sync
tile.kernel @dot(%step: !tile.step, %x: !tile.view<2xf32>, %w: !tile.view<2x32xf32>, %y: !tile.view<32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%c0] : !tile.view<2xf32> -> tensor<2xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<2x32xf32> -> tensor<2x32xf32>
  %s = tile.dot (%a) by %b into (%zero) : tensor<2xf32>, tensor<2x32xf32>, tensor<32xf32>
  tile.store %s, %y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}

// A computed row is handed out by the lanes that hold it.

// CHECK-LABEL: llvm.func @dot_of_computed(
// CHECK: llvm.fmul
// CHECK: nvvm.shfl.sync idx
// CHECK: llvm.intr.fma
// CHECK: nvvm.shfl.sync idx
// CHECK: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
tile.kernel @dot_of_computed(%step: !tile.step, %x: !tile.view<2xf32>, %w: !tile.view<2x32xf32>, %y: !tile.view<32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%c0] : !tile.view<2xf32> -> tensor<2xf32>
  %aa = arith.mulf %a, %a : tensor<2xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<2x32xf32> -> tensor<2x32xf32>
  %s = tile.dot (%aa) by %b into (%zero) : tensor<2xf32>, tensor<2x32xf32>, tensor<32xf32>
  tile.store %s, %y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
