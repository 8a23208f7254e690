// RUN: llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v3" | FileCheck %s --check-prefixes=CHECK,V3
// RUN: llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v4" | FileCheck %s --check-prefixes=CHECK,V4

// The matrix is read by the loop over k, a register at a time, and a plain row element by element from memory: neither tile
// is ever loaded whole. A wider level cuts the same columns into fewer registers.

// CHECK-LABEL: llvm.func hidden @panel
// CHECK-NOT: vector<576xf32>
// V3: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// V4: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK: %[[ELEMENT:.*]] = llvm.load %{{.*}} : !llvm.ptr -> f32
// CHECK: vector.broadcast %[[ELEMENT]]
// CHECK: math.fma
tile.kernel @panel(%step: !tile.step, %x: !tile.view<?x576xf32>, %w: !tile.view<576x32xf32>, %y: !tile.view<?x32xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%r, %c0] : !tile.view<?x576xf32> -> tensor<576xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<576x32xf32> -> tensor<576x32xf32>
  %s = tile.dot (%a) by %b into (%zero) : tensor<576xf32>, tensor<576x32xf32>, tensor<32xf32>
  tile.store %s, %y[%r, %c0] : tensor<32xf32>, !tile.view<?x32xf32>
  tile.return
}

// A computed row goes through the stack, where its elements can be broadcast from.

// CHECK-LABEL: llvm.func hidden @computed_row
// CHECK: %[[BUFFER:.*]] = llvm.alloca
// CHECK: %[[ROW:.*]] = arith.addf {{.*}} : vector<16xf32>
// CHECK-NEXT: llvm.store %[[ROW]], %[[BUFFER]]
tile.kernel @computed_row(%step: !tile.step, %x: !tile.view<16xf32>, %w: !tile.view<16x8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %a = tile.load %x[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  %d = arith.addf %a, %a : tensor<16xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32>
  %s = tile.dot (%d) by %b into (%zero) : tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>
  tile.store %s, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// A store after the row's load may change it: the row is loaded where it stood.

// CHECK-LABEL: llvm.func hidden @row_overwritten
// CHECK: %[[ROW:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.store
tile.kernel @row_overwritten(%step: !tile.step, %x: !tile.view<16xf32>, %w: !tile.view<16x8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %one = arith.constant 1.0 : f32
  %a = tile.load %x[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %one, %x[%c0] : f32, !tile.view<16xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<16x8xf32> -> tensor<16x8xf32>
  %s = tile.dot (%a) by %b into (%zero) : tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>
  tile.store %s, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// With valid, the loops end there; a second loop takes the steps that do not fill a body.

// CHECK-LABEL: llvm.func hidden @bounded
// CHECK: %[[LEAST:.*]] = arith.maxsi
// CHECK: %[[END:.*]] = arith.minsi %[[LEAST]]
// CHECK: %[[REST:.*]] = arith.remui %[[END]]
// CHECK: %[[WHOLE:.*]] = arith.subi %[[END]], %[[REST]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[WHOLE]]
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %[[END]]
tile.kernel @bounded(%step: !tile.step, %x: !tile.view<64xf32>, %w: !tile.view<64x8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = tile.extent rows %step
  %a = tile.load %x[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<64x8xf32> -> tensor<64x8xf32>
  %s = tile.dot (%a) by %b into (%zero) valid %n : tensor<64xf32>, tensor<64x8xf32>, tensor<8xf32>
  tile.store %s, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// Transposed: eight lines at a time, then their trees together (7 additions of 8 lanes instead of 24).

// CHECK-LABEL: llvm.func hidden @transposed
// CHECK: scf.for
// CHECK-COUNT-8: math.fma
// V3-COUNT-7: arith.addf {{.*}} : vector<8xf32>
tile.kernel @transposed(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<64x8xf32>, %y: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<64x8xf32> -> tensor<64x8xf32>
  %s = tile.dot (%a) by_transposed %b into (%zero) {lanes = 8 : i64} : tensor<8xf32>, tensor<64x8xf32>, tensor<64xf32>
  tile.store %s, %y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// Keys of a chunk, read once: its values (keys are 2 x 8 x 64 x 4 bytes) are fetched meanwhile, line by line.

// CHECK-LABEL: llvm.func hidden @streamed
// CHECK: %[[AWAY:.*]] = llvm.mlir.constant(4096 : i64)
// CHECK: llvm.getelementptr %{{.*}}[%[[AWAY]]]
// CHECK-COUNT-32: llvm.intr.prefetch
tile.kernel @streamed(%step: !tile.step, %kv: !tile.kv<heads = 2, key = 8, value = 8, tokenMajor = false, block = 8192>, %x: !tile.view<8xf32>, %y: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %keys = tile.kv_chunk key %kv, %step[%c0, %c0, %c0] : !tile.kv<heads = 2, key = 8, value = 8, tokenMajor = false, block = 8192> -> !tile.view<8x64xf32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %keys[%c0, %c0] : !tile.view<8x64xf32> -> tensor<8x64xf32>
  %s = tile.dot (%a) by %b into (%zero) {tile.streamed} : tensor<8xf32>, tensor<8x64xf32>, tensor<64xf32>
  tile.store %s, %y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// Seven rows of 64 columns are 28 sums on v4, more than three quarters of its registers: two halves of the columns, each of which fetches
// half of the values, 8 x 2 lines.

// V4-LABEL: llvm.func hidden @halves
// V4: llvm.mlir.constant(4096 : i64)
// V4-COUNT-16: llvm.intr.prefetch
// V4: llvm.mlir.constant(5120 : i64)
// V4-COUNT-16: llvm.intr.prefetch
// V4-NOT: llvm.intr.prefetch
tile.kernel @halves(%step: !tile.step, %kv: !tile.kv<heads = 2, key = 8, value = 8, tokenMajor = false, block = 8192>, %x: !tile.view<7x8xf32>, %y: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %keys = tile.kv_chunk key %kv, %step[%c0, %c0, %c0] : !tile.kv<heads = 2, key = 8, value = 8, tokenMajor = false, block = 8192> -> !tile.view<8x64xf32>
  %a0 = tile.load %x[%c0, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %a1 = tile.load %x[%c1, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %a2 = tile.load %x[%c2, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %a3 = tile.load %x[%c3, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %a4 = tile.load %x[%c4, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %a5 = tile.load %x[%c5, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %a6 = tile.load %x[%c6, %c0] : !tile.view<7x8xf32> -> tensor<8xf32>
  %b = tile.load %keys[%c0, %c0] : !tile.view<8x64xf32> -> tensor<8x64xf32>
  %s:7 = tile.dot (%a0, %a1, %a2, %a3, %a4, %a5, %a6) by %b into (%zero, %zero, %zero, %zero, %zero, %zero, %zero) {tile.streamed} : tensor<8xf32>, tensor<8x64xf32>, tensor<64xf32>
  tile.store %s#0, %y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
