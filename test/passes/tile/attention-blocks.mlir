// Attention of many rows: blocks of row_tile rows go over each chunk once, six queries at a time, each with its own count of
// values. Keys are read as they lie, or turned into columns where a token's elements lie side by side.
//
// RUN: llmc-opt %s --llmc-lower-to-tile | FileCheck %s
// RUN: sed 's/head_major/token_major/' %s | llmc-opt --llmc-lower-to-tile | FileCheck %s --check-prefix=TURNED
// RUN: sed 's/row_tile = 4/row_tile = 3/' %s | not llmc-opt --llmc-lower-to-tile 2>&1 | FileCheck %s --check-prefix=TILE

!cache = !llm.kv_cache<heads = 1, key = 6, value = 4, element = bf16, layout = head_major, chunk = 64>

llm.cache @kv : !cache

func.func @prefill(%step: !llm.step, %q: tensor<?x12xf32>, %k: tensor<?x6xf32>, %v: tensor<?x4xf32>) -> tensor<?x8xf32>
    attributes {llm.graph = "prefill"} {
  %0 = llm.fused "append" schedule <chunk = 1> {
    %c = llm.kv_append @kv, %k, %v, %step : tensor<?x6xf32>, tensor<?x4xf32> -> !cache
    llm.yield %c : !cache
  } : !cache
  %1 = llm.fused "attention" schedule <lanes = 2, kv_chunk = 64, row_tile = 4> {
    %view = llm.kv_view %0, %step : !llm.kv_view<!cache>
    %a = llm.attention %q, %view {heads = 2 : i64, scale = 0.5 : f32} : tensor<?x12xf32>, !llm.kv_view<!cache> -> tensor<?x8xf32>
    llm.yield %a : tensor<?x8xf32>
  } : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Programs whose row is no first one of a block do nothing. 4 rows x 2 heads are 8 queries, 12 with what fills up.
// CHECK-LABEL: tile.kernel @attention
// CHECK: scf.if
// CHECK: tile.scratch : <12x6xf32>
// CHECK: tile.scratch : <12x64xf32>
// CHECK: %[[KEYS:.*]] = tile.kv_chunk key {{.*}} -> <6x64xbf16, strides = [64, 1]>
// A chunk wholly before the block: all keys, no mask, two queries' softmax at a time.
// CHECK: scf.if
// CHECK: tile.load %[[KEYS]]{{.*}} -> tensor<6x64xbf16>
// CHECK: tile.dot (%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) by {{.*}} : tensor<6xf32>, tensor<6x64xbf16>, tensor<64xf32>
// CHECK-NOT: tile.iota
// CHECK-COUNT-2: math.exp {{.*}} : tensor<64xf32>
// CHECK: } else {
// The chunk that the block ends in: half of its keys where rows see no more.
// CHECK: %[[REACH:.*]] = arith.cmpi sle
// CHECK: scf.if %[[REACH]]
// CHECK: tile.load %[[KEYS]]{{.*}} -> tensor<6x32xbf16>
// CHECK: tile.dot {{.*}} : tensor<6xf32>, tensor<6x32xbf16>, tensor<32xf32>
// CHECK-COUNT-2: tile.iota : tensor<32xi32>
// CHECK-COUNT-2: math.exp {{.*}} : tensor<32xf32>
// CHECK: } else {
// CHECK: tile.load %[[KEYS]]{{.*}} -> tensor<6x64xbf16>
// CHECK-COUNT-2: tile.iota : tensor<64xi32>
// CHECK-COUNT-2: math.exp {{.*}} : tensor<64xf32>
// Maxima and sums of sixteen queries merge at a time.
// CHECK: math.exp {{.*}} : tensor<16xf32>
// CHECK: tile.dot {{.*}} valid (%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : tensor<64xf32>, tensor<64x4xbf16>, tensor<4xf32>

// TURNED-LABEL: tile.kernel @attention
// TURNED: %[[COLUMNS:.*]] = tile.scratch : <6x64xf32>
// TURNED: arith.extf {{.*}} : bf16 to f32
// TURNED: tile.load %[[COLUMNS]]{{.*}} -> tensor<6x64xf32>

// TILE: error: expects a row_tile that is a power of two up to 64, found 3
