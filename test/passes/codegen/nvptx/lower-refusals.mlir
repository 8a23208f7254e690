// RUN: llmc-opt %s --llmc-lower-tile-to-nvptx --split-input-file --verify-diagnostics

// No instruction, and no polynomial whose error was measured.

tile.kernel @no_sine(%step: !tile.step, %x: !tile.view<8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{'math.sin' op cannot be lowered for an NVIDIA GPU: no instruction or polynomial stands for it}}
  %b = math.sin %a : tensor<8xf32>
  tile.store %b, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

// Another lane's store is not there yet.

tile.kernel @no_reading_of_what_is_written(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{found a load from parameter 1, which the kernel writes, expected parameters that are read or written}}
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %a, %x[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @no_fast_math(%step: !tile.step, %x: !tile.view<8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error@+1 {{found fastmath flags, expected none}}
  %b = arith.addf %a, %a fastmath<reassoc> : tensor<8xf32>
  tile.store %b, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @no_wide_tile(%step: !tile.step, %x: !tile.view<2048xf32>, %y: !tile.view<2048xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{found 'tensor<2048xf32>', expected 1 to 1024 elements; loop over narrower tiles}}
  %a = tile.load %x[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  tile.store %a, %y[%c0] : tensor<2048xf32>, !tile.view<2048xf32>
  tile.return
}

// -----

tile.kernel @no_list_of_values(%step: !tile.step, %y: !tile.view<2xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{expected a tile of one value}}
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  tile.store %a, %y[%c0] : tensor<2xf32>, !tile.view<2xf32>
  tile.return
}

// -----

tile.kernel @no_scratch(%step: !tile.step) {
  // expected-error@+1 {{found memory of the program's own, expected none: lanes do not see each other's stores}}
  %a = tile.scratch : !tile.view<32xf32>
  tile.return
}
