// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx --split-input-file --verify-diagnostics | FileCheck %s

// An element of the matrix is extended where it is loaded, by integers; sums stay f32.

// CHECK-LABEL: llvm.func @dot(
// CHECK: %[[B:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> bf16
// CHECK: %[[BITS:.*]] = llvm.bitcast %[[B]] : bf16 to i16
// CHECK: llvm.zext %[[BITS]] : i16 to i32
// CHECK: llvm.intr.fma
// CHECK-NOT: llvm.fpext
tile.kernel @dot(%step: !tile.step, %x: !tile.view<1xf32>, %w: !tile.view<1x32xbf16>, %y: !tile.view<32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%c0] : !tile.view<1xf32> -> tensor<1xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<1x32xbf16> -> tensor<1x32xbf16>
  %s = tile.dot (%a) by %b into (%zero) : tensor<1xf32>, tensor<1x32xbf16>, tensor<32xf32>
  tile.store %s, %y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}

// -----

// The same memory as other elements is the same address.

// CHECK-LABEL: llvm.func @reinterpret(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>,
// CHECK: %[[OWN:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
// CHECK: llvm.load %[[OWN]] : !llvm.ptr<1> -> f16
// CHECK: llvm.fpext
tile.kernel @reinterpret(%step: !tile.step, %x: !tile.view<4x16xi32>, %y: !tile.view<32xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %h = tile.reinterpret %x : !tile.view<4x16xi32> -> !tile.view<4x32xf16>
  %a = tile.load %h[%c3, %c0] : !tile.view<4x32xf16> -> tensor<32xf16>
  %b = arith.extf %a : tensor<32xf16> to tensor<32xf32>
  tile.store %b, %y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}

// -----

// It is the same parameter, too.

tile.kernel @no_reading_of_what_is_written(%step: !tile.step, %x: !tile.view<4x16xi32>) {
  %c0 = arith.constant 0 : index
  %h = tile.reinterpret %x : !tile.view<4x16xi32> -> !tile.view<4x32xf16>
  // expected-error@+1 {{found a load from parameter 1, which the kernel writes}}
  %a = tile.load %h[%c0, %c0] : !tile.view<4x32xf16> -> tensor<32xf16>
  tile.store %a, %h[%c0, %c0] : tensor<32xf16>, !tile.view<4x32xf16>
  tile.return
}

// -----

tile.kernel @no_sum_in_16_bits(%step: !tile.step, %x: !tile.view<32xbf16>, %y: !tile.view<32xbf16>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<32xbf16> -> tensor<32xbf16>
  // expected-error@+1 {{found arithmetic on bf16 or f16, expected arith.extf before it and arith.truncf after it}}
  %b = arith.addf %a, %a : tensor<32xbf16>
  tile.store %b, %y[%c0] : tensor<32xbf16>, !tile.view<32xbf16>
  tile.return
}

// -----

// Codes become f32 where they are loaded.

// CHECK-LABEL: llvm.func @dot_with_codes(
// CHECK: %[[CODE:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i8
// CHECK: llvm.sitofp %[[CODE]] : i8 to f32
// CHECK: llvm.intr.fma
tile.kernel @dot_with_codes(%step: !tile.step, %x: !tile.view<1xf32>, %w: !tile.view<1x32xi8>, %y: !tile.view<32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %x[%c0] : !tile.view<1xf32> -> tensor<1xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<1x32xi8> -> tensor<1x32xi8>
  %s = tile.dot (%a) by %b into (%zero) : tensor<1xf32>, tensor<1x32xi8>, tensor<32xf32>
  tile.store %s, %y[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
