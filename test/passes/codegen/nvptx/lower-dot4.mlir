// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx --split-input-file --verify-diagnostics | FileCheck %s

// One instruction an element and row: bytes of the weights without a sign, those of the row with one. Both rows take the
// same weights. No shuffle: what an element needs is in its own lane.

// CHECK-LABEL: llvm.func @two_rows(
// CHECK: %[[W0:.*]] = llvm.bitcast %{{.*}} : i32 to vector<4xi8>
// CHECK: %[[V0:.*]] = llvm.bitcast %{{.*}} : i32 to vector<4xi8>
// CHECK: %[[SUM0:.*]] = nvvm.dot.accumulate.4way %[[W0]] <unsigned>, %[[V0]] <signed>, %{{.*}} : vector<4xi8>, vector<4xi8>
// CHECK: %[[SUM1:.*]] = nvvm.dot.accumulate.4way %{{.*}} <unsigned>, %{{.*}} <signed>, %{{.*}} : vector<4xi8>, vector<4xi8>
// CHECK-NOT: nvvm.dot.accumulate.4way
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.store %[[SUM0]], %{{.*}} : i32, !llvm.ptr<1>
// CHECK: llvm.store %[[SUM1]], %{{.*}} : i32, !llvm.ptr<1>
tile.kernel @two_rows(%step: !tile.step, %x: !tile.view<2x32xi32>, %w: !tile.view<32xi32>, %y: !tile.view<2x32xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : tensor<32xi32>
  %weights = tile.load %w[%c0] : !tile.view<32xi32> -> tensor<32xi32>
  %x0 = tile.load %x[%c0, %c0] : !tile.view<2x32xi32> -> tensor<32xi32>
  %x1 = tile.load %x[%c1, %c0] : !tile.view<2x32xi32> -> tensor<32xi32>
  %d:2 = tile.dot4 (%x0, %x1) by %weights into (%zero, %zero) : tensor<32xi32>
  tile.store %d#0, %y[%c0, %c0] : tensor<32xi32>, !tile.view<2x32xi32>
  tile.store %d#1, %y[%c1, %c0] : tensor<32xi32>, !tile.view<2x32xi32>
  tile.return
}

// -----

// A tile wider than the warp: as many instructions as a lane has elements. `bits` changes nothing, dp4a does not saturate.

// CHECK-LABEL: llvm.func @wide(
// CHECK-COUNT-2: nvvm.dot.accumulate.4way %{{.*}} <unsigned>, %{{.*}} <signed>
// CHECK-NOT: nvvm.dot.accumulate.4way
tile.kernel @wide(%step: !tile.step, %x: !tile.view<64xi32>, %y: !tile.view<64xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<64xi32> -> tensor<64xi32>
  %b = tile.dot4 (%a) by %a into (%a) {bits = 4 : i64} : tensor<64xi32>
  tile.store %b, %y[%c0] : tensor<64xi32>, !tile.view<64xi32>
  tile.return
}

// -----

// A tile narrower than the warp is masked where it is loaded and stored, not in between.

// CHECK-LABEL: llvm.func @narrow(
// CHECK: llvm.cond_br
// CHECK: nvvm.dot.accumulate.4way
// CHECK-NOT: nvvm.dot.accumulate.4way
// CHECK: llvm.cond_br
// CHECK: llvm.store
tile.kernel @narrow(%step: !tile.step, %x: !tile.view<8xi32>, %y: !tile.view<8xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %b = tile.dot4 (%a) by %a into (%a) : tensor<8xi32>
  tile.store %b, %y[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}

// -----

// A tile that would not fit into the registers of a warp, from whatever op it comes.

tile.kernel @no_wide_tile(%step: !tile.step, %y: !tile.view<1xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %a = tile.broadcast %one : i32 -> tensor<2048xi32>
  // expected-error@+1 {{'tile.dot4' op cannot be lowered for an NVIDIA GPU: found 'tensor<2048xi32>', expected 1 to 1024 elements; loop over narrower tiles}}
  %b = tile.dot4 (%a) by %a into (%a) : tensor<2048xi32>
  tile.store %one, %y[%c0] : i32, !tile.view<1xi32>
  tile.return
}

// -----

// Another lane's store is not there yet: rows and weights come from parameters that are only read.

tile.kernel @no_dot_in_place(%step: !tile.step, %x: !tile.view<32xi32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{found a load from parameter 1, which the kernel writes}}
  %a = tile.load %x[%c0] : !tile.view<32xi32> -> tensor<32xi32>
  %b = tile.dot4 (%a) by %a into (%a) : tensor<32xi32>
  tile.store %b, %x[%c0] : tensor<32xi32>, !tile.view<32xi32>
  tile.return
}
