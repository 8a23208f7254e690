// RUN: llmc-opt %s --llmc-lower-tile-to-cpu --split-input-file --verify-diagnostics

// No instruction, and no polynomial whose error was measured.

tile.kernel @no_sine(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{'math.sin' op cannot be lowered for a CPU: no instruction or polynomial stands for it}}
  %b = math.sin %a : tensor<8xf32>
  tile.store %b, %x[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @no_fast_math(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{found fastmath flags, expected none}}
  %b = arith.addf %a, %a fastmath<reassoc> : tensor<8xf32>
  tile.store %b, %x[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @no_computed_matrix(%step: !tile.step, %x: !tile.view<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<8x8xf32> -> tensor<8x8xf32>
  // expected-error@+1 {{found 'tensor<8x8xf32>', expected rank 1: only tile.dot uses tiles of rank 2, straight from tile.load}}
  %b = arith.addf %a, %a : tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @no_huge_tile(%step: !tile.step, %x: !tile.view<2048xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{found 'tensor<2048xf32>', expected 1 to 1024 elements; loop over narrower tiles}}
  %a = tile.load %x[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  tile.store %a, %x[%c0] : tensor<2048xf32>, !tile.view<2048xf32>
  tile.return
}

// -----

tile.kernel @no_store_between_matrix_and_dot(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-note@+1 {{the matrix is loaded here, but read by the dot}}
  %b = tile.load %w[%c0, %c0] : !tile.view<8x8xf32> -> tensor<8x8xf32>
  tile.store %zero, %w[%c0, %c0] : tensor<8xf32>, !tile.view<8x8xf32>
  // expected-error@+1 {{found a tile.store between the matrix's load and the dot, expected none}}
  %s = tile.dot (%a) by %b into (%zero) : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
  tile.store %s, %x[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @no_integer_dot(%step: !tile.step, %x: !tile.view<8xi32>, %w: !tile.view<8x8xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<8xi32>
  %a = tile.load %x[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x8xi32> -> tensor<8x8xi32>
  // expected-error@+1 {{found 'tensor<8xi32>', expected elements of type f32}}
  %s = tile.dot (%a) by %b into (%zero) : tensor<8xi32>, tensor<8x8xi32>, tensor<8xi32>
  tile.store %s, %x[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}

// -----

tile.kernel @no_other_dialect(%step: !tile.step, %x: !tile.view<8xf32>) {
  // expected-error@+1 {{'func.call' op cannot be lowered for a CPU}}
  func.call @f() : () -> ()
  tile.return
}
func.func private @f()

// -----

tile.kernel @no_integer_matrix(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x8xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x8xi32> -> tensor<8x8xi32>
  // expected-error@+1 {{found 'tensor<8x8xi32>', expected elements of type f32, bf16, f16 or i8}}
  %s = tile.dot (%a) by %b into (%zero) : tensor<8xf32>, tensor<8x8xi32>, tensor<8xf32>
  tile.store %s, %x[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

// 16 bits are for storing: levels would round such sums differently.

tile.kernel @no_arithmetic_in_16_bits(%step: !tile.step, %x: !tile.view<8xbf16>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xbf16> -> tensor<8xbf16>
  // expected-error@+1 {{found arithmetic on bf16 or f16, expected arith.extf before it and arith.truncf after it}}
  %b = arith.addf %a, %a : tensor<8xbf16>
  tile.store %b, %x[%c0] : tensor<8xbf16>, !tile.view<8xbf16>
  tile.return
}

// -----

tile.kernel @no_rounding_mode(%step: !tile.step, %x: !tile.view<8xf32>, %y: !tile.view<8xbf16>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{found a rounding mode, expected none: numbers are rounded to nearest even}}
  %b = arith.truncf %a toward_zero : tensor<8xf32> to tensor<8xbf16>
  tile.store %b, %y[%c0] : tensor<8xbf16>, !tile.view<8xbf16>
  tile.return
}

// -----

// All of a kernel's scratch lies on the stack.
tile.kernel @no_large_scratch(%step: !tile.step) {
  %a = tile.scratch : !tile.view<64x256xf32>
  // expected-error@+1 {{found 131328 bytes of scratch in the kernel, expected at most 131072: it lies on the stack}}
  %b = tile.scratch : !tile.view<257x256xi8>
  tile.return
}
