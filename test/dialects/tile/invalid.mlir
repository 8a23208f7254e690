// What the tile ops refuse: found, expected, and a note at the other place to blame.
//
// RUN: llmc-opt %s --split-input-file --verify-diagnostics

//===--- Kernels -------------------------------------------------------------------------------------------------------===//

// expected-error @+1 {{'tile.kernel' op expects !tile.step as its first parameter}}
tile.kernel @no_step(%x: !tile.view<8xf32>) { tile.return }

// -----

// expected-error @+1 {{'tile.kernel' op expects parameter 1 to be a view or a cache, found 'f32'}}
tile.kernel @scalar_parameter(%step: !tile.step, %x: f32) { tile.return }

// -----

// expected-error @+1 {{'tile.kernel' op expects no results, found 1}}
tile.kernel @results(%step: !tile.step) -> f32 { tile.return }

// -----

tile.kernel @word(%step: !tile.step) {
  // expected-error @+1 {{unknown extent 'columns'}}
  %n = tile.extent columns %step
  tile.return
}

// -----

//===--- Types ---------------------------------------------------------------------------------------------------------===//

// expected-error @+1 {{only the outermost dimension of a view may be dynamic}}
tile.kernel @inner_dynamic(%step: !tile.step, %x: !tile.view<8x?xf32>) { tile.return }

// -----

// expected-error @+1 {{view element expected f32, bf16, f16, i32 or i8, found 'f64'}}
tile.kernel @wide_element(%step: !tile.step, %x: !tile.view<8xf64>) { tile.return }

// -----

// expected-error @+1 {{expected 2 strides, found 1}}
tile.kernel @strides(%step: !tile.step, %x: !tile.view<8x8xf32, strides = [1]>) { tile.return }

// -----

// expected-error @+1 {{heads (0), key (8) and value (8) expected to be positive}}
tile.kernel @no_heads(%step: !tile.step, %x: !tile.kv<heads = 0, key = 8, value = 8, tokenMajor = false, block = 4096>) { tile.return }

// -----

// expected-error @+1 {{a chunk block of 64 bytes does not hold this cache, expected at least 4096}}
tile.kernel @small_block(%step: !tile.step, %x: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 64>) { tile.return }

// -----

// expected-error @+1 {{cache element expected f32, bf16 or i8, found 'f16'}}
tile.kernel @cache_element(%step: !tile.step, %x: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 4096, element = f16>) { tile.return }

// -----

// Two bytes an element, not four.
// expected-error @+1 {{a chunk block of 2047 bytes does not hold this cache, expected at least 2048}}
tile.kernel @small_bf16_block(%step: !tile.step, %x: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 2047, element = bf16>) { tile.return }

// -----

// A byte an element, and a scale for keys and one for values of each token.
// expected-error @+1 {{a chunk block of 1535 bytes does not hold this cache, expected at least 1536}}
tile.kernel @small_code_block(%step: !tile.step, %x: !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 1535, element = i8>) { tile.return }

// -----

//===--- Memory --------------------------------------------------------------------------------------------------------===//

tile.kernel @indices(%step: !tile.step, %x: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects 2 indices, found 1}}
  %a = tile.load %x[%c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @element(%step: !tile.step, %x: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects elements of type 'f32', found 'i32'}}
  %a = tile.load %x[%c0, %c0] : !tile.view<?x8xf32> -> tensor<8xi32>
  tile.return
}

// -----

tile.kernel @width(%step: !tile.step, %x: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects a tile no wider than the view (8) or a valid count, found 16}}
  %a = tile.load %x[%c0, %c0] : !tile.view<?x8xf32> -> tensor<16xf32>
  tile.return
}

// -----

tile.kernel @rank(%step: !tile.step, %x: !tile.view<2x8x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects a tile of rank 1 or 2 within a view of rank 3, found rank 3}}
  %a = tile.load %x[%c0, %c0, %c0] : !tile.view<2x8x8xf32> -> tensor<2x8x8xf32>
  tile.return
}

// -----

tile.kernel @rank_of_view(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects a tile of rank 1 or 2 within a view of rank 1, found rank 2}}
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<2x8xf32>
  tile.return
}

// -----

tile.kernel @masked_matrix(%step: !tile.step, %x: !tile.view<8x8xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects rank 1 with valid, found rank 2}}
  %a = tile.load %x[%c0, %c0] valid %c0 : !tile.view<8x8xf32> -> tensor<8x8xf32>
  tile.return
}

// -----

tile.kernel @stride(%step: !tile.step, %x: !tile.view<8x8xf32, strides = [1, 8]>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects the last dimension to be contiguous, found stride 8}}
  %a = tile.load %x[%c0, %c0] : !tile.view<8x8xf32, strides = [1, 8]> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @store_matrix(%step: !tile.step, %x: !tile.view<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<8x8xf32> -> tensor<8x8xf32>
  // expected-error @+1 {{'tile.store' op expects a tile of rank 1, found rank 2}}
  tile.store %a, %x[%c0, %c0] : tensor<8x8xf32>, !tile.view<8x8xf32>
  tile.return
}

// -----

tile.kernel @store_width(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] valid %c0 : !tile.view<8xf32> -> tensor<16xf32>
  // expected-error @+1 {{'tile.store' op expects a tile no wider than the view (8) or a valid count, found 16}}
  tile.store %a, %x[%c0] : tensor<16xf32>, !tile.view<8xf32>
  tile.return
}

// -----

!kv = !tile.kv<heads = 2, key = 8, value = 4, tokenMajor = true, block = 8192>
tile.kernel @chunk(%step: !tile.step, %kv: !kv) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.kv_chunk' op expects a result of 64 x 4 with strides [8, 1], or its transpose, found '!tile.view<64x4xf32>'}}
  %k = tile.kv_chunk value %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<64x4xf32>
  tile.return
}

// -----

!kv = !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 2048, element = bf16>
tile.kernel @chunk_element(%step: !tile.step, %kv: !kv) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.kv_chunk' op expects elements of type 'bf16', found 'f32'}}
  %k = tile.kv_chunk key %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<64x8xf32>
  tile.return
}

// -----

!kv = !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 2048, element = bf16>
tile.kernel @no_scales(%step: !tile.step, %kv: !kv) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.kv_chunk' op expects a cache of i8, which has scales, found elements of type 'bf16'}}
  %k = tile.kv_chunk value_scale %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<64xf32>
  tile.return
}

// -----

!kv = !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 1536, element = i8>
tile.kernel @scales(%step: !tile.step, %kv: !kv) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.kv_chunk' op expects a result of type '!tile.view<64xf32>', found '!tile.view<64x1xf32>'}}
  %k = tile.kv_chunk key_scale %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<64x1xf32>
  tile.return
}

// -----

tile.kernel @stored_element(%step: !tile.step, %x: !tile.view<8xbf16>) {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error @+1 {{'tile.store' op expects elements of type 'bf16', found 'f32'}}
  tile.store %a, %x[%c0] : tensor<8xf32>, !tile.view<8xbf16>
  tile.return
}

// -----

//===--- Tiles ---------------------------------------------------------------------------------------------------------===//

tile.kernel @broadcast(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %s = tile.load %x[%c0] : !tile.view<8xf32> -> f32
  // expected-error @+1 {{'tile.broadcast' op expects a rank 1 tile of 'f32', found 'tensor<2x8xf32>'}}
  %t = tile.broadcast %s : f32 -> tensor<2x8xf32>
  tile.return
}

// -----

tile.kernel @reduce_width(%step: !tile.step, %x: !tile.view<24xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<24xf32> -> tensor<24xf32>
  // expected-error @+1 {{'tile.reduce' op expects a rank 1 tile whose width is a power of two, found 'tensor<24xf32>'}}
  %s = tile.reduce add %a : tensor<24xf32> -> f32
  tile.return
}

// -----

tile.kernel @reduce_type(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error @+1 {{'tile.reduce' op expects a result of type 'f32', found 'i32'}}
  %s = tile.reduce add %a : tensor<8xf32> -> i32
  tile.return
}

// -----

tile.kernel @dot_rows(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  %acc = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @+1 {{'tile.dot' op expects as many accumulators and results as rows (2), found 1 and 1}}
  %r = tile.dot (%a, %a) by %b into (%acc) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  tile.return
}

// -----

tile.kernel @dot_width(%step: !tile.step, %x: !tile.view<16xf32>, %w: !tile.view<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  %acc = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @+1 {{'tile.dot' op expects rows of 8 elements, found 'tensor<16xf32>'}}
  %r = tile.dot (%a) by %b into (%acc) : tensor<16xf32>, tensor<8x32xf32>, tensor<32xf32>
  tile.return
}

// -----

tile.kernel @dot_accumulator(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  %acc = arith.constant dense<0.0> : tensor<16xf32>
  // expected-error @+1 {{'tile.dot' op expects accumulators and results of 32 elements, found 'tensor<16xf32>' and 'tensor<16xf32>'}}
  %r = tile.dot (%a) by %b into (%acc) : tensor<8xf32>, tensor<8x32xf32>, tensor<16xf32>
  tile.return
}

// -----

tile.kernel @dot_computed_matrix(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = arith.constant dense<1.0> : tensor<8x32xf32>
  %acc = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @+1 {{'tile.dot' op expects its matrix straight from tile.load}}
  %r = tile.dot (%a) by %b into (%acc) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  tile.return
}

// -----

// Only the matrix may be stored in 16 bits.
tile.kernel @dot_stored_row(%step: !tile.step, %x: !tile.view<8xbf16>, %w: !tile.view<8x32xbf16>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xbf16> -> tensor<8xbf16>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xbf16> -> tensor<8x32xbf16>
  %acc = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @+1 {{'tile.dot' op operand #0 must be variadic of statically shaped tensor of 32-bit float or 32-bit signless integer values, but got 'tensor<8xbf16>'}}
  %r = tile.dot (%a) by %b into (%acc) : tensor<8xbf16>, tensor<8x32xbf16>, tensor<32xf32>
  tile.return
}

// -----

tile.kernel @dot_lanes(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<64x8xf32> -> tensor<64x8xf32>
  %acc = arith.constant dense<0.0> : tensor<64xf32>
  // expected-error @+1 {{'tile.dot' op expects lanes to be a power of two that divides 8 (and 1 unless transposed), found 16}}
  %r = tile.dot (%a) by_transposed %b into (%acc) {lanes = 16 : i64} : tensor<8xf32>, tensor<64x8xf32>, tensor<64xf32>
  tile.return
}

// -----

tile.kernel @dot_valid(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<64x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<64x8xf32> -> tensor<64x8xf32>
  %acc = arith.constant dense<0.0> : tensor<64xf32>
  // expected-error @+1 {{'tile.dot' op expects no valid count when transposed}}
  %r = tile.dot (%a) by_transposed %b into (%acc) valid %c0 : tensor<8xf32>, tensor<64x8xf32>, tensor<64xf32>
  tile.return
}

// -----

tile.kernel @dot4_bits(%step: !tile.step, %x: !tile.view<8xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  // expected-error @+1 {{'tile.dot4' op expects bits from 1 to 8, found 9}}
  %b = tile.dot4 (%a) by %a into (%a) {bits = 9 : i64} : tensor<8xi32>
  tile.return
}

// -----

tile.kernel @dot4_signed_nibbles(%step: !tile.step, %x: !tile.view<8xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  // expected-error @+1 {{'tile.dot4' op expects 8 bits of signed weights, found 4}}
  %b = tile.dot4 (%a) by %a into (%a) {bits = 4 : i64, signed_weights} : tensor<8xi32>
  tile.return
}

// -----

tile.kernel @dot4_type(%step: !tile.step, %x: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  // expected-error @+1 {{'tile.dot4' op expects tiles of i32 of rank 1, found 'tensor<8xf32>'}}
  %b = tile.dot4 (%a) by %a into (%a) : tensor<8xf32>
  tile.return
}

// -----

//===--- Graphs --------------------------------------------------------------------------------------------------------===//

func.func @slice_arena(%step: !tile.step) {
  // expected-error @+1 {{'tile.slice' op expects the arena of rows or outputs, found sequences}}
  %x = tile.slice sequences offset 0 : !tile.view<?x8xf32>
  return
}

// -----

func.func @slice_offset(%step: !tile.step) {
  // expected-error @+1 {{'tile.slice' op expects an offset that is a multiple of 64 and one line each, found 32 and '!tile.view<?x8xf32>'}}
  %x = tile.slice rows offset 32 : !tile.view<?x8xf32>
  return
}

// -----

func.func @launch_nothing(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'tile.launch' op names kernel @nothing, expected a tile.kernel of that name}}
  tile.launch @nothing "n" grid(rows, 1) chunk 1 (%x) : (tensor<?x8xf32>) -> ()
  return
}

// -----

// expected-note @+1 {{the kernel is here}}
tile.kernel @k(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) { tile.return }
func.func @launch_count(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'tile.launch' op expects 2 operands and results, found 1}}
  tile.launch @k "k" grid(rows, 1) chunk 1 (%x) : (tensor<?x8xf32>) -> ()
  return
}

// -----

// expected-note @+1 {{the kernel is here}}
tile.kernel @k(%step: !tile.step, %x: !tile.view<?x8xf32>) { tile.return }
func.func @launch_type(%x: tensor<?x16xf32>) {
  // expected-error @+1 {{'tile.launch' op expects operand or result 0 to fit '!tile.view<?x8xf32>', found 'tensor<?x16xf32>'}}
  tile.launch @k "k" grid(rows, 1) chunk 1 (%x) : (tensor<?x16xf32>) -> ()
  return
}

// -----

tile.kernel @k(%step: !tile.step, %x: !tile.view<?x8xf32>) { tile.return }
func.func @launch_grid(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'tile.launch' op expects a positive grid and chunk, found 0 and 1}}
  tile.launch @k "k" grid(rows, 0) chunk 1 (%x) : (tensor<?x8xf32>) -> ()
  return
}

// -----

tile.kernel @prefetch_indices(%step: !tile.step, %x: !tile.view<4x32xi32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.prefetch' op expects 2 indices, found 1}}
  tile.prefetch %x[%c0] : !tile.view<4x32xi32>
  tile.return
}

// -----

tile.kernel @reinterpret_size(%step: !tile.step, %w: !tile.view<4x32xi32>) {
  // expected-error @+1 {{'tile.reinterpret' op expects views that differ in element and last dimension alone, and are equally large, found '!tile.view<4x32xi32>' of 512 bytes and '!tile.view<4x32xf16>' of 256}}
  %h = tile.reinterpret %w : !tile.view<4x32xi32> -> !tile.view<4x32xf16>
  tile.return
}

// -----

tile.kernel @reinterpret_shape(%step: !tile.step, %w: !tile.view<4x32xi32>) {
  // expected-error @+1 {{'tile.reinterpret' op expects views that differ in element and last dimension alone, and are equally large, found '!tile.view<4x32xi32>' of 512 bytes and '!tile.view<2x64xi32>' of 512}}
  %h = tile.reinterpret %w : !tile.view<4x32xi32> -> !tile.view<2x64xi32>
  tile.return
}

// -----

tile.kernel @reinterpret_strides(%step: !tile.step, %w: !tile.view<64x4xf32, strides = [8, 1]>) {
  // expected-error @+1 {{'tile.reinterpret' op expects views without strides, found '!tile.view<64x4xf32, strides = [8, 1]>' and '!tile.view<64x4xi32>'}}
  %h = tile.reinterpret %w : !tile.view<64x4xf32, strides = [8, 1]> -> !tile.view<64x4xi32>
  tile.return
}

// -----

tile.kernel @scratch_of_rows(%step: !tile.step) {
  // expected-error @+1 {{'tile.scratch' op expects known dimensions and no strides, found '!tile.view<?x8xf32>'}}
  %s = tile.scratch : !tile.view<?x8xf32>
  tile.return
}

// -----

tile.kernel @scratch_strides(%step: !tile.step) {
  // expected-error @+1 {{'tile.scratch' op expects known dimensions and no strides, found '!tile.view<4x8xf32, strides = [16, 1]>'}}
  %s = tile.scratch : !tile.view<4x8xf32, strides = [16, 1]>
  tile.return
}

// -----

tile.kernel @counts(%step: !tile.step, %x: !tile.view<8xf32>, %w: !tile.view<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  %z = arith.constant dense<0.0> : tensor<32xf32>
  // expected-error @+1 {{'tile.dot' op expects one valid count, or one for each of 3 rows, found 2}}
  %r:3 = tile.dot (%a, %a, %a) by %b into (%z, %z, %z) valid (%c0, %c0) : tensor<8xf32>, tensor<8x32xf32>, tensor<32xf32>
  tile.return
}

// -----

tile.kernel @load_column(%step: !tile.step, %x: !tile.view<64x8xf32, strides = [1, 64]>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tile.load' op expects the last dimension to be contiguous, found stride 64}}
  %a = tile.load %x[%c0, %c0] : !tile.view<64x8xf32, strides = [1, 64]> -> tensor<8xf32>
  tile.return
}
