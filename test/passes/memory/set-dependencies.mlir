// Each launch names the last earlier one that touches the same bytes or the same cache, where one of the two writes.
//
// RUN: llmc-opt %s --llmc-set-dependencies | FileCheck %s
// RUN: llmc-opt %s --llmc-set-dependencies --llmc-set-dependencies | FileCheck %s

!kv = !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 8192>

tile.packed @w 1 x 8 of f32 panel_rows 0 offset 0 bytes 32 {sources = ["w"]}
tile.placed_cache @layers.0.kv : !kv offset 0
tile.placed_cache @layers.1.kv : !kv offset 4096

tile.kernel @scale(%step: !tile.step, %w: !tile.view<8xf32>, %y: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %w[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %a, %y[%c0, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}
tile.kernel @copy(%step: !tile.step, %x: !tile.view<?x8xf32>, %y: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  tile.store %a, %y[%c0, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}
tile.kernel @append(%step: !tile.step, %x: !tile.view<?x8xf32>, %kv: !kv) {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] : !tile.view<?x8xf32> -> tensor<8xf32>
  %k = tile.kv_chunk key %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<8x64xf32>
  tile.store %a, %k[%c0, %c0] : tensor<8xf32>, !tile.view<8x64xf32>
  tile.return
}
tile.kernel @attend(%step: !tile.step, %kv: !kv, %y: !tile.view<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %k = tile.kv_chunk key %kv, %step[%c0, %c0, %c0] : !kv -> !tile.view<8x64xf32>
  %a = tile.load %k[%c0, %c0] : !tile.view<8x64xf32> -> tensor<8xf32>
  tile.store %a, %y[%c0, %c0] : tensor<8xf32>, !tile.view<?x8xf32>
  tile.return
}

// CHECK-LABEL: func.func @decode
func.func @decode(%step: !tile.step) attributes {llm.graph = "decode"} {
  %w = tile.weight @w : !tile.view<8xf32>
  %kv0 = tile.cache @layers.0.kv : !kv
  %kv1 = tile.cache @layers.1.kv : !kv
  %a = tile.slice rows offset 0 : !tile.view<?x8xf32>
  %b = tile.slice rows offset 64 : !tile.view<?x8xf32>
  %o = tile.slice outputs offset 0 : !tile.view<?x8xf32>
  // Weights are only read: none waits.
  // CHECK: tile.launch @scale "0" {{.*}} after -1
  tile.launch @scale "0" grid(rows, 1) chunk 1 (%w, %a) : (!tile.view<8xf32>, !tile.view<?x8xf32>) -> ()
  // CHECK: tile.launch @scale "1" {{.*}} after -1
  tile.launch @scale "1" grid(rows, 1) chunk 1 (%w, %b) : (!tile.view<8xf32>, !tile.view<?x8xf32>) -> ()
  // Reads what 0 wrote.
  // CHECK: tile.launch @append "2" {{.*}} after 0
  tile.launch @append "2" grid(rows, 1) chunk 1 (%a, %kv0) : (!tile.view<?x8xf32>, !kv) -> ()
  // Another cache, and a row that both only read.
  // CHECK: tile.launch @append "3" {{.*}} after 0
  tile.launch @append "3" grid(rows, 1) chunk 1 (%a, %kv1) : (!tile.view<?x8xf32>, !kv) -> ()
  // Reads the cache that 2 wrote, and writes where 1 wrote.
  // CHECK: tile.launch @attend "4" {{.*}} after 2
  tile.launch @attend "4" grid(rows, 1) chunk 1 (%kv0, %b) : (!kv, !tile.view<?x8xf32>) -> ()
  // Writes what 2 and 3 read.
  // CHECK: tile.launch @copy "5" {{.*}} after 4
  tile.launch @copy "5" grid(rows, 1) chunk 1 (%b, %a) : (!tile.view<?x8xf32>, !tile.view<?x8xf32>) -> ()
  // Rows and outputs are two arenas: offset 0 of one is not offset 0 of the other.
  // CHECK: tile.launch @scale "6" {{.*}} after -1
  tile.launch @scale "6" grid(outputs, 1) chunk 1 (%w, %o) : (!tile.view<8xf32>, !tile.view<?x8xf32>) -> ()
  return
}

// Numbers begin anew in each graph.
// CHECK-LABEL: func.func @prefill
func.func @prefill(%step: !tile.step) attributes {llm.graph = "prefill"} {
  %w = tile.weight @w : !tile.view<8xf32>
  %a = tile.slice rows offset 0 : !tile.view<?x8xf32>
  // CHECK: tile.launch @scale "0" {{.*}} after -1
  tile.launch @scale "0" grid(rows, 1) chunk 1 (%w, %a) : (!tile.view<8xf32>, !tile.view<?x8xf32>) -> ()
  return
}
