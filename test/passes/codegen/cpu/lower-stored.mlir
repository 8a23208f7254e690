// RUN: llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v4+vnni+bf16" | FileCheck %s
// RUN: llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v4+vnni+bf16" --llmc-lower-kernels-to-llvm | FileCheck %s --check-prefix=LLVM

// Each element of the matrix is extended where it is loaded; sums stay f32. Two registers of bf16 are words whose halves are even
// and odd columns; the sums come back in order at the end. No instruction that multiplies bf16 is used: its sums have another
// order.

// CHECK-LABEL: llvm.func hidden @dot
// CHECK: %[[B:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<32xi16>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[B]] : vector<32xi16> to vector<16xi32>
// CHECK: arith.shli %[[WORDS]]
// CHECK: arith.andi %[[WORDS]]
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xf32>, vector<16xf32>
// LLVM-LABEL: llvm.func hidden @dot
// LLVM-NOT: llvm.fpext
// LLVM-NOT: llvm.x86
// LLVM: llvm.return
tile.kernel @dot(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x32xbf16>, %y: !tile.view<32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xbf16> -> tensor<8x32xbf16>
  %s = tile.dot (%a) by %b into (%zero) : tensor<8xf32>, tensor<8x32xbf16>, tensor<32xf32>
  tile.store %s, %y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}

// bf16 travels as integers, and is rounded by integer arithmetic: the machine's own conversion flushes subnormals. A count that
// is known shortens the store.

// CHECK-LABEL: llvm.func hidden @round
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK: %[[I:.*]] = arith.bitcast %[[R]] : vector<8xbf16> to vector<8xi16>
// CHECK: %[[FIVE:.*]] = vector.shuffle %[[I]], %[[I]] [0, 1, 2, 3, 4]
// CHECK: llvm.store %[[FIVE]], %{{.*}} {alignment = 2 : i64} : vector<5xi16>, !llvm.ptr
// LLVM-LABEL: llvm.func hidden @round
// LLVM-NOT: llvm.fptrunc
// LLVM: llvm.return
tile.kernel @round(%step: !tile.step, %x: !tile.view<8xf32>, %y: !tile.view<8xbf16>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = arith.truncf %a : tensor<8xf32> to tensor<8xbf16>
  tile.store %b, %y[%c0] valid %c5 : tensor<8xbf16>, !tile.view<8xbf16>
  tile.return
}

// A count that is not known masks, in 16-bit integers.

// CHECK-LABEL: llvm.func hidden @masked
// CHECK: llvm.intr.masked.load {{.*}} {alignment = 2 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xi16>) -> vector<8xi16>
tile.kernel @masked(%step: !tile.step, %x: !tile.view<8xbf16>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tile.extent rows %step
  %a = tile.load %x[%c0] valid %n : !tile.view<8xbf16> -> tensor<8xbf16>
  %b = arith.extf %a : tensor<8xbf16> to tensor<8xf32>
  tile.store %b, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// f16 has instructions, exact ones.

// LLVM-LABEL: llvm.func hidden @half
// LLVM: llvm.fpext {{.*}} : vector<8xf16> to vector<8xf32>
// LLVM: llvm.fptrunc {{.*}} : vector<8xf32> to vector<8xf16>
tile.kernel @half(%step: !tile.step, %x: !tile.view<8xf16>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf16> -> tensor<8xf16>
  %b = arith.extf %a : tensor<8xf16> to tensor<8xf32>
  %d = arith.mulf %b, %b : tensor<8xf32>
  %c = arith.truncf %d : tensor<8xf32> to tensor<8xf16>
  tile.store %c, %x[%c0] : tensor<8xf16>, !tile.view<8xf16>
  tile.return
}

// Chunks of a bf16 cache: values after two bytes a key, heads counted in elements.

// CHECK-LABEL: llvm.func hidden @chunk
// CHECK: llvm.mlir.constant(2048 : i64)
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
!kv = !tile.kv<heads = 2, key = 8, value = 4, tokenMajor = false, block = 3072, element = bf16>
tile.kernel @chunk(%step: !tile.step, %kv: !kv, %y: !tile.view<4xbf16>) {
  %c0 = arith.constant 0 : index
  %values = tile.kv_chunk value %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<64x4xbf16>
  %v = tile.load %values[%c0, %c0] : !tile.view<64x4xbf16> -> tensor<4xbf16>
  tile.store %v, %y[%c0] : tensor<4xbf16>, !tile.view<4xbf16>
  tile.return
}

// Codes are extended as two instructions of the machine, a register at a time; their columns stay in order.

// CHECK-LABEL: llvm.func hidden @dot_with_codes
// CHECK: %[[CODES:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<16xi8>
// CHECK: arith.sitofp %[[CODES]] : vector<16xi8> to vector<16xf32>
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK: llvm.return
tile.kernel @dot_with_codes(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x16xi8>, %y: !tile.view<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x16xi8> -> tensor<8x16xi8>
  %s = tile.dot (%a) by %b into (%zero) : tensor<8xf32>, tensor<8x16xi8>, tensor<16xf32>
  tile.store %s, %y[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// Scales of values lie behind the codes of keys (1024 bytes), their scales (512) and the codes of values (512), 64 a head.

// CHECK-LABEL: llvm.func hidden @scales
// CHECK: llvm.mlir.constant(2048 : i64)
// CHECK: %[[HEAD:.*]] = arith.muli %{{.*}}, %c64
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
!codes = !tile.kv<heads = 2, key = 8, value = 4, tokenMajor = true, block = 2560, element = i8>
tile.kernel @scales(%step: !tile.step, %kv: !codes, %y: !tile.view<64xf32>) {
  %c0 = arith.constant 0 : index
  %scales = tile.kv_chunk value_scale %kv, %step[%c0, %c0, %c0] : !codes -> !tile.view<64xf32>
  %s = tile.load %scales[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  tile.store %s, %y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
