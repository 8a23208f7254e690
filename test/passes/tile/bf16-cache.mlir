// A cache of bf16: halves of heads are rounded where they are stored, and chunks are read by dots, which extend them. Queries
// stay f32.
//
// RUN: llmc-opt %s --llmc-lower-to-tile | FileCheck %s

!cache = !llm.kv_cache<heads = 1, key = 6, value = 4, element = bf16, layout = head_major, chunk = 64>

llm.weight @rope : !llm.weight<128x6xf32> computed <frequencies = [1.0, 0.25, 0.0625], magnitude = 1.0 : f32>
llm.cache @kv : !cache

// (6 + 4) x 64 x 2 bytes.
// CHECK: tile.cache @kv : <heads = 1, key = 6, value = 4, tokenMajor = false, block = 1280, element = bf16>
func.func @decode(%step: !llm.step, %q: tensor<?x12xf32>, %k: tensor<?x6xf32>, %v: tensor<?x4xf32>) -> tensor<?x8xf32>
    attributes {llm.graph = "decode"} {
  %0:2 = llm.fused "append" schedule <chunk = 1> {
    %qr = llm.rope %q, %step, @rope {heads = 2 : i64} : tensor<?x12xf32>
    %kr = llm.rope %k, %step, @rope {heads = 1 : i64} : tensor<?x6xf32>
    %c = llm.kv_append @kv, %kr, %v, %step : tensor<?x6xf32>, tensor<?x4xf32> -> !cache
    llm.yield %qr, %c : tensor<?x12xf32>, !cache
  } : tensor<?x12xf32>, !cache
  %1 = llm.fused "attention" schedule <lanes = 2, kv_chunk = 64> {
    %view = llm.kv_view %0#1, %step : !llm.kv_view<!cache>
    %a = llm.attention %0#0, %view {heads = 2 : i64, scale = 0.5 : f32} : tensor<?x12xf32>, !llm.kv_view<!cache> -> tensor<?x8xf32>
    llm.yield %a : tensor<?x8xf32>
  } : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: tile.kernel @rope_append
// CHECK: scf.for
// CHECK-NOT: truncf
// CHECK: tile.store {{.*}} : tensor<4xf32>, <?x12xf32>
// A column of keys.
// CHECK: %[[KEYS:.*]] = tile.kv_chunk key {{.*}} -> <64x6xbf16, strides = [1, 64]>
// CHECK: %[[LOW:.*]] = arith.truncf {{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: tile.store %[[LOW]], %[[KEYS]]{{.*}} valid {{.*}} : tensor<4xbf16>, <64x6xbf16, strides = [1, 64]>
// CHECK: tile.kv_chunk value
// CHECK: arith.truncf {{.*}} : tensor<2xf32> to tensor<2xbf16>

// CHECK-LABEL: tile.kernel @attention
// Both query heads share each load of keys and of values.
// CHECK: tile.dot (%{{.*}}, %{{.*}}) by {{.*}} : tensor<6xf32>, tensor<6x64xbf16>, tensor<64xf32>
// CHECK: tile.dot (%{{.*}}, %{{.*}}) by {{.*}} : tensor<64xf32>, tensor<64x4xbf16>, tensor<4xf32>
