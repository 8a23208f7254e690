// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx | FileCheck %s

// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">]

// One warp a program: operands in order, the step, the first program. Program = first + block.

// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1>, %[[Y:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %[[FIRST:.*]]: i32)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 32>
// CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: llvm.add %[[BLOCK]], %[[FIRST]]
// CHECK: %[[VALUE:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> f32
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.store %[[VALUE]], %{{.*}} : f32, !llvm.ptr<1>
tile.kernel @copy(%step: !tile.step, %x: !tile.view<?x32xf32>, %y: !tile.view<?x32xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x32xf32> -> tensor<32xf32>
  tile.store %a, %y[%r, %c0] : tensor<32xf32>, !tile.view<?x32xf32>
  tile.return
}

// A tile narrower than the warp: idle lanes hold zero, and neither load nor store.

// CHECK-LABEL: llvm.func @narrow(
// CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.constant(0.000000e+00 : f32)
// CHECK-DAG: %[[EIGHT:.*]] = llvm.mlir.constant(8 : index) : i64
// CHECK: %[[PRESENT:.*]] = llvm.icmp "slt" %{{.*}}, %[[EIGHT]]
// CHECK: llvm.cond_br %[[PRESENT]], ^[[LOAD:.*]], ^[[IDLE:.*]]
// CHECK: ^[[LOAD]]:
// CHECK-NEXT: %[[LOADED:.*]] = llvm.load
// CHECK-NEXT: llvm.br ^[[JOIN:.*]](%[[LOADED]] : f32)
// CHECK: ^[[IDLE]]:
// CHECK-NEXT: llvm.br ^[[JOIN]](%[[ZERO]] : f32)
// CHECK: llvm.cond_br
// CHECK: llvm.store
tile.kernel @narrow(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  tile.store %a, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}

// A wider tile is a vector in each lane, its elements 32 apart; arithmetic stays one op.

// CHECK-LABEL: llvm.func @wide(
// CHECK: llvm.load %[[OWN:.*]] :
// CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[OWN]][32]
// CHECK: llvm.load %[[NEXT]] :
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : vector<2xf32>
// CHECK-COUNT-2: llvm.store
tile.kernel @wide(%step: !tile.step, %x: !tile.view<?x64xf32>, %y: !tile.view<?x64xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x64xf32> -> tensor<64xf32>
  %b = arith.addf %a, %a : tensor<64xf32>
  tile.store %b, %y[%r, %c0] : tensor<64xf32>, !tile.view<?x64xf32>
  tile.return
}

// The inner grid dimension runs fastest.

// CHECK-LABEL: llvm.func @inner(
// CHECK: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i32) : i32
// CHECK: llvm.udiv %[[PROGRAM:.*]], %[[SEVEN]]
// CHECK: llvm.urem %[[PROGRAM]], %[[SEVEN]]
tile.kernel @inner(%step: !tile.step, %x: !tile.view<?x32xf32>, %y: !tile.view<?x32xf32>) attributes {tile.inner = 7 : i64} {
  %r = tile.program_id line
  %i = tile.program_id inner
  %a = tile.load %x[%r, %i] : !tile.view<?x32xf32> -> f32
  tile.store %a, %y[%r, %i] : f32, !tile.view<?x32xf32>
  tile.return
}
