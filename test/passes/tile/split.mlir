// A part of a row is read at its columns, in every kind of kernel: no data move.
//
// RUN: llmc-opt %s --llmc-lower-to-tile | FileCheck %s

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

llm.weight @w : !llm.weight<32x16xf32, <panel_rows = 32>> from ["w"]
llm.cache @kv : !cache

func.func @decode(%step: !llm.step, %x: tensor<?x48xf32>) -> (tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x16xf32>)
    attributes {llm.graph = "decode"} {
  %s = llm.fused "s" schedule <lanes = 16> {
    %0:2 = llm.split %x : tensor<?x48xf32> -> tensor<?x32xf32>, tensor<?x16xf32>
    %1:2 = llm.split %0#0 : tensor<?x32xf32> -> tensor<?x16xf32>, tensor<?x16xf32>
    %2 = llm.add %1#1, %0#1 : tensor<?x16xf32>
    llm.yield %2 : tensor<?x16xf32>
  } : tensor<?x16xf32>
  %y = llm.fused "w" schedule <lanes = 16, k_tile = 16> {
    %0:2 = llm.split %x : tensor<?x48xf32> -> tensor<?x32xf32>, tensor<?x16xf32>
    %1 = llm.linear %0#1, @w : tensor<?x16xf32> -> tensor<?x32xf32>
    llm.yield %1 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  %c = llm.fused "append" schedule <lanes = 16> {
    %0:6 = llm.split %x : tensor<?x48xf32> -> tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    %1 = llm.kv_append @kv, %0#4, %0#5, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
    llm.yield %1 : !cache
  } : !cache
  %a = llm.fused "attention" schedule <lanes = 8, kv_chunk = 64> {
    %0:2 = llm.split %x : tensor<?x48xf32> -> tensor<?x32xf32>, tensor<?x16xf32>
    %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
    %1 = llm.attention %0#1, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
    llm.yield %1 : tensor<?x16xf32>
  } : tensor<?x16xf32>
  return %s, %y, %a : tensor<?x16xf32>, tensor<?x32xf32>, tensor<?x16xf32>
}

// CHECK: tile.kernel @row_wise_0(%{{.*}}: !tile.step, %[[X:.*]]: !tile.view<?x48xf32>, %{{.*}}: !tile.view<?x16xf32>)
// CHECK: arith.constant 16 : index
// CHECK: tile.load %[[X]][%{{.*}}, %{{.*}}] : <?x48xf32> -> tensor<16xf32>
// CHECK: arith.constant 32 : index
// CHECK: tile.load %[[X]][%{{.*}}, %{{.*}}] : <?x48xf32> -> tensor<16xf32>
// CHECK: tile.kernel @linear_0
// CHECK: tile.load %{{.*}} : <?x48xf32> -> tensor<16xf32>
// CHECK: tile.kernel @rope_append_0
// CHECK: tile.kernel @attention_0
// CHECK: arith.constant 32 : index
// CHECK: tile.load %{{.*}} : <?x48xf32> -> tensor<8xf32>
