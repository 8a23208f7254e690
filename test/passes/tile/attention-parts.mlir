// Partial results leave attention, one program a part; a row-wise kernel merges those that have keys, within a head.
//
// RUN: llmc-opt %s --llmc-lower-to-tile | FileCheck %s
// RUN: sed 's/k_split = 2/k_split = 4/' %s | not llmc-opt --llmc-lower-to-tile 2>&1 | FileCheck %s --check-prefix=PARTS

// PARTS: error: {{.*}}expects a k_split of its 2 parts, found 4

!cache = !llm.kv_cache<heads = 2, key = 32, value = 32, element = bf16, layout = head_major, chunk = 64>

llm.cache @kv : !cache

// Two groups of heads in two parts.
// CHECK-LABEL: func.func @decode
// CHECK: tile.launch @attention_0 "attention" grid(rows, 4)
// CHECK: tile.launch @row_wise_0 "attention.merge" grid(rows, 1)
func.func @decode(%step: !llm.step, %q: tensor<?x64xf32>, %k: tensor<?x64xf32>, %v: tensor<?x64xf32>) -> tensor<?x64xf32>
    attributes {llm.graph = "decode"} {
  %0 = llm.fused "append" schedule <chunk = 1> {
    %c = llm.kv_append @kv, %k, %v, %step : tensor<?x64xf32>, tensor<?x64xf32> -> !cache
    llm.yield %c : !cache
  } : !cache
  %1 = llm.fused "attention" schedule <lanes = 64, k_split = 2, kv_chunk = 64> {
    %view = llm.kv_view %0, %step : !llm.kv_view<!cache>
    %a = llm.attention %q, %view {heads = 2 : i64, parts = 2 : i64, scale = 0.5 : f32} : tensor<?x64xf32>, !llm.kv_view<!cache> -> tensor<?x136xf32>
    llm.yield %a : tensor<?x136xf32>
  } : tensor<?x136xf32>
  %2 = llm.fused "attention.merge" schedule <lanes = 64, chunk = 1> {
    %m = llm.attention_merge %1 {heads = 2 : i64, parts = 2 : i64, window = 0 : i64} : tensor<?x136xf32> -> tensor<?x64xf32>
    llm.yield %m : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// Four chunks at least are a part. The maximum of a part without keys is 0, as its sum.
// CHECK-LABEL: tile.kernel @attention_0
// CHECK: arith.maxsi
// CHECK: scf.for
// CHECK: %[[KEYS:.*]] = arith.cmpf ogt
// CHECK: arith.select %[[KEYS]]
// CHECK-COUNT-3: tile.store

// CHECK-LABEL: tile.kernel @row_wise_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.load {{.*}} -> tensor<32xf32>
// CHECK: math.exp
