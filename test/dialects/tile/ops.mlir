// Every op of the dialect, as its description in TileOps.td shows it (the ctest tile-examples checks that each example is here),
// parsed, printed and parsed again.
//
// RUN: llmc-opt %s | llmc-opt | FileCheck %s

// CHECK: tile.packed @w 64 x 8 of f32 panel_rows 32 offset 0 bytes 2048 {sources = ["layers.0.q"]}
tile.packed @w 64 x 8 of f32 panel_rows 32 offset 0 bytes 2048 {sources = ["layers.0.q"]}
// CHECK: tile.placed_cache @layers.0.kv : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096> offset 0
tile.placed_cache @layers.0.kv : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096> offset 0

// CHECK-LABEL: tile.kernel @twice
// CHECK-SAME: (%[[STEP:.*]]: !tile.step, %[[X:.*]]: !tile.view<?x8xf32>, %[[Y:.*]]: !tile.view<?x8xf32>)
tile.kernel @twice(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) {
  // CHECK: %[[R:.*]] = tile.program_id line
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  // CHECK: %[[A:.*]] = tile.load %[[X]][%[[R]], %{{.*}}] : <?x8xf32> -> tensor<8xf32>
  %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  %b = arith.addf %a, %a : tensor<8xf32>
  // CHECK: tile.store %{{.*}}, %[[Y]][%[[R]], %{{.*}}] : tensor<8xf32>, <?x8xf32>
  tile.store %b, %y[%r, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @step
tile.kernel @step(%step: !tile.step) {
  // CHECK: tile.program_id inner
  %r = tile.program_id inner
  // CHECK: tile.extent rows %{{.*}}
  %n = tile.extent rows %step
  // CHECK: tile.step_read positions %{{.*}}[%{{.*}}]
  %p = tile.step_read positions %step[%r]
  tile.return
}

// CHECK-LABEL: tile.kernel @memory
tile.kernel @memory(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>, %half: !tile.view<?x8xbf16>,
                    %other: !tile.view<8xf16>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %n = arith.constant 5 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  // CHECK: tile.load {{.*}} valid %{{.*}} : <?x8xf32> -> tensor<16xf32>
  %b = tile.load %x[%r, %c0] valid %n : !tile.view<?x8xf32> -> tensor<16xf32>
  // CHECK: tile.load {{.*}} : <?x8xf32> -> f32
  %s = tile.load %x[%r, %c0] : !tile.view<?x8xf32> -> f32
  // CHECK: tile.store {{.*}} valid %{{.*}} : tensor<8xf32>, <?x8xf32>
  tile.store %a, %y[%r, %c0] valid %n : tensor<8xf32>, !tile.view<?x8xf32>
  // CHECK: tile.load {{.*}} : <?x8xbf16> -> tensor<8xbf16>
  %h = tile.load %half[%r, %c0] : !tile.view<?x8xbf16> -> tensor<8xbf16>
  %e = arith.extf %h : tensor<8xbf16> to tensor<8xf32>
  %o = arith.truncf %e : tensor<8xf32> to tensor<8xf16>
  // CHECK: tile.store {{.*}} : tensor<8xf16>, <8xf16>
  tile.store %o, %other[%c0] : tensor<8xf16>, !tile.view<8xf16>
  // CHECK: tile.load {{.*}} : <8xf16> -> f16
  %f = tile.load %other[%c0] : !tile.view<8xf16> -> f16
  tile.return
}

// One block of a packed weight: words of codes, then halves.
// CHECK-LABEL: tile.kernel @scratch
tile.kernel @scratch(%step: !tile.step) {
  // CHECK: tile.scratch : <18x288xi32>
  %s = tile.scratch : !tile.view<18x288xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @prefetch
tile.kernel @prefetch(%step: !tile.step, %x: !tile.view<?x8xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  // CHECK: tile.prefetch %{{.*}}[%{{.*}}, %{{.*}}] : <?x8xf32>
  tile.prefetch %x[%r, %c0] : !tile.view<?x8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @reinterpret
tile.kernel @reinterpret(%step: !tile.step, %w: !tile.view<4x9x32xi32>) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.reinterpret %{{.*}} : <4x9x32xi32> -> <4x9x64xf16>
  %h = tile.reinterpret %w : !tile.view<4x9x32xi32> -> !tile.view<4x9x64xf16>
  // CHECK: tile.load %{{.*}} : <4x9x64xf16> -> tensor<32xf16>
  %s = tile.load %h[%c0, %c0, %c0] : !tile.view<4x9x64xf16> -> tensor<32xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @chunks
tile.kernel @chunks(%step: !tile.step, %kv: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096>,
                    %wide: !tile.kv<heads = 2, key = 8, value = 4, tokenMajor = true, block = 8192>,
                    %narrow: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 2048, element = bf16>,
                    %codes: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 1536, element = i8>) {
  %s = tile.program_id line
  %c = arith.constant 0 : index
  %h = arith.constant 0 : index
  // CHECK: tile.kv_chunk key %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : <heads = 1, {{.*}}> -> <8x64xf32>
  %k = tile.kv_chunk key %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096> -> !tile.view<8x64xf32>
  // CHECK: %[[COLUMN:.*]] = tile.kv_chunk key {{.*}} -> <64x8xf32, strides = [1, 64]>
  %column = tile.kv_chunk key %kv, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096> -> !tile.view<64x8xf32, strides = [1, 64]>
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<0.0> : tensor<8xf32>
  // CHECK: tile.store %{{.*}}, %[[COLUMN]][%{{.*}}, %{{.*}}] : tensor<8xf32>, <64x8xf32, strides = [1, 64]>
  tile.store %a, %column[%c0, %c0] : tensor<8xf32>, !tile.view<64x8xf32, strides = [1, 64]>
  // Token-major: one token's heads lie side by side.
  // CHECK: tile.kv_chunk value %{{.*}} -> <64x4xf32, strides = [8, 1]>
  %v = tile.kv_chunk value %wide, %step[%s, %c, %h] : !tile.kv<heads = 2, key = 8, value = 4, tokenMajor = true, block = 8192> -> !tile.view<64x4xf32, strides = [8, 1]>
  // CHECK: tile.kv_chunk key %{{.*}} : <heads = 1, {{.*}}, element = bf16> -> <8x64xbf16>
  %n = tile.kv_chunk key %narrow, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 2048, element = bf16> -> !tile.view<8x64xbf16>
  // CHECK: tile.kv_chunk key_scale %{{.*}} : <heads = 1, {{.*}}, element = i8> -> <64xf32>
  %scales = tile.kv_chunk key_scale %codes, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 1536, element = i8> -> !tile.view<64xf32>
  // CHECK: tile.kv_chunk value_scale %{{.*}} -> <64xf32>
  %vs = tile.kv_chunk value_scale %codes, %step[%s, %c, %h] : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 1536, element = i8> -> !tile.view<64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @elements
tile.kernel @elements(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %s = tile.load %x[%c0] : !tile.view<8xf32> -> f32
  // CHECK: tile.broadcast %{{.*}} : f32 -> tensor<8xf32>
  %t = tile.broadcast %s : f32 -> tensor<8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x32xf32>, %keys: !tile.view<64x8xf32>,
                   %stored: !tile.view<8x32xbf16>) {
  %c0 = arith.constant 0 : index
  %one = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // CHECK: tile.iota : tensor<64xi32>
  %i = tile.iota : tensor<64xi32>
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // CHECK: tile.reduce max %{{.*}} : tensor<8xf32> -> f32
  %m = tile.reduce max %a : tensor<8xf32> -> f32
  // CHECK: tile.reduce greater %{{.*}} : tensor<8xf32> -> f32
  %g = tile.reduce greater %a : tensor<8xf32> -> f32
  // CHECK: tile.reduce min %{{.*}} : tensor<64xi32> -> i32
  %least = tile.reduce min %i : tensor<64xi32> -> i32
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  %acc = arith.constant dense<0.0> : tensor<32xf32>
  // CHECK: tile.dot (%{{.*}}) by %{{.*}} into (%{{.*}}) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  %r = tile.dot (%a) by %b into (%acc) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  // CHECK: tile.dot (%{{.*}}, %{{.*}}) by %{{.*}} into (%{{.*}}, %{{.*}}) valid %{{.*}} : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  %r2:2 = tile.dot (%a, %one) by %b into (%acc, %acc) valid %c0 : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  %q = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %k = tile.load %keys[%c0, %c0] : !tile.view<64x8xf32> -> tensor<64x8xf32>
  %z = arith.constant dense<0.0> : tensor<64xf32>
  // CHECK: tile.dot (%{{.*}}) by_transposed %{{.*}} into (%{{.*}}) {lanes = 8 : i64} : tensor<8xf32>, tensor<64x8xf32>, tensor<64xf32>
  %s = tile.dot (%q) by_transposed %k into (%z) {lanes = 8 : i64} : tensor<8xf32>, tensor<64x8xf32>, tensor<64xf32>
  %half = tile.load %stored[%c0, %c0] : !tile.view<8x32xbf16> -> tensor<8x32xbf16>
  // CHECK: tile.dot (%{{.*}}) by %{{.*}} into (%{{.*}}) : tensor<8xf32>, tensor<8x32xbf16>, tensor<32xf32>
  %h = tile.dot (%a) by %half into (%acc) : tensor<8xf32>, tensor<8x32xbf16>, tensor<32xf32>
  %n = arith.constant 3 : index
  // CHECK: tile.dot (%{{.*}}, %{{.*}}) by %{{.*}} into (%{{.*}}, %{{.*}}) valid (%{{.*}}, %{{.*}}) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  %e:2 = tile.dot (%a, %one) by %b into (%acc, %acc) valid (%c0, %n) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @bytes
tile.kernel @bytes(%step: !tile.step, %x: !tile.view<?x32xi32>) {
  %c0 = arith.constant 0 : index
  %row = tile.load %x[%c0, %c0] : !tile.view<?x32xi32> -> tensor<32xi32>
  %weights = tile.load %x[%c0, %c0] : !tile.view<?x32xi32> -> tensor<32xi32>
  %acc = arith.constant dense<0> : tensor<32xi32>
  // CHECK: tile.dot4 (%{{.*}}) by %{{.*}} into (%{{.*}}) {bits = 4 : i64} : tensor<32xi32>
  %d = tile.dot4 (%row) by %weights into (%acc) {bits = 4 : i64} : tensor<32xi32>
  // CHECK: tile.dot4 (%{{.*}}) by %{{.*}} into (%{{.*}}) {signed_weights} : tensor<32xi32>
  %e = tile.dot4 (%row) by %weights into (%acc) {signed_weights} : tensor<32xi32>
  tile.return
}

// CHECK-LABEL: func.func @graph
func.func @graph(%step: !tile.step, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {llm.graph = "decode"} {
  // CHECK: tile.weight @w : <3x8x32xf32>
  %w = tile.weight @w : !tile.view<3x8x32xf32>
  // CHECK: tile.cache @layers.0.kv : <heads = 1, {{.*}}>
  %kv = tile.cache @layers.0.kv : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096>
  // CHECK: tile.launch @twice "layers.0.twice" grid(rows, 1) chunk 1(%{{.*}}) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = tile.launch @twice "layers.0.twice" grid(rows, 1) chunk 1 (%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @places
func.func @places(%step: !tile.step) attributes {llm.graph = "prefill"} {
  // CHECK: %[[X:.*]] = tile.slice rows offset 256 : <?x8xf32>
  %x = tile.slice rows offset 256 : !tile.view<?x8xf32>
  %y = tile.slice outputs offset 0 : !tile.view<?x8xf32>
  // CHECK: tile.launch @twice "t" grid(outputs, 2) chunk 4 after 0(%[[X]], %{{.*}})
  tile.launch @twice "t" grid(outputs, 2) chunk 4 after 0 (%x, %y) : (!tile.view<?x8xf32>, !tile.view<?x8xf32>) -> ()
  // CHECK: tile.result logits %[[X]] : <?x8xf32>
  tile.result logits %x : !tile.view<?x8xf32>
  return
}
