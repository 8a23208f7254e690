// A cache of codes: a head's largest number gives its scale, which is stored with the codes. Attention multiplies scores by the
// scales of keys, before they are masked, and weights by those of values, after they are summed.
//
// RUN: llmc-opt %s --llmc-lower-to-tile | FileCheck %s

!cache = !llm.kv_cache<heads = 1, key = 6, value = 4, element = i8, layout = head_major, chunk = 64>

llm.weight @rope : !llm.weight<128x6xf32> computed <frequencies = [1.0, 0.25, 0.0625], magnitude = 1.0 : f32>
llm.cache @kv : !cache

// (6 + 4) x 64 bytes and 2 x 64 scales.
// CHECK: tile.cache @kv : <heads = 1, key = 6, value = 4, tokenMajor = false, block = 1152, element = i8>
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
// Both halves of the head share a scale, and so one maximum.
// CHECK: %[[SCALES:.*]] = tile.kv_chunk key_scale {{.*}} -> <64xf32>
// CHECK: %[[SIZES:.*]] = arith.maxsi {{.*}} : tensor<4xi32>
// CHECK: tile.reduce max %[[SIZES]]
// CHECK: %[[SCALE:.*]] = arith.maximumf {{.*}} : f32
// CHECK: tile.store %[[SCALE]], %[[SCALES]]{{.*}} : f32, <64xf32>
// CHECK: arith.addf {{.*}} : tensor<4xf32>
// CHECK: %[[LOW:.*]] = arith.trunci {{.*}} : tensor<4xi32> to tensor<4xi8>
// CHECK: %[[KEYS:.*]] = tile.kv_chunk key {{.*}} -> <64x6xi8, strides = [1, 64]>
// CHECK: tile.store %[[LOW]], %[[KEYS]]{{.*}} valid {{.*}} : tensor<4xi8>, <64x6xi8, strides = [1, 64]>
// CHECK: tile.kv_chunk value_scale
// CHECK: tile.kv_chunk value {{.*}} -> <64x4xi8, strides = [4, 1]>

// CHECK-LABEL: tile.kernel @attention
// CHECK: %[[KEY_SCALES:.*]] = tile.load {{.*}} : <64xf32> -> tensor<64xf32>
// CHECK: %[[VALUE_SCALES:.*]] = tile.load {{.*}} : <64xf32> -> tensor<64xf32>
// CHECK: %[[PRODUCTS:.*]]:2 = tile.dot (%{{.*}}, %{{.*}}) by {{.*}} : tensor<6xf32>, tensor<6x64xi8>, tensor<64xf32>
// CHECK: %[[SCORES:.*]] = arith.mulf %[[PRODUCTS]]#0, %[[KEY_SCALES]]
// CHECK: arith.select {{.*}}, %[[SCORES]]
// CHECK: %[[WEIGHTS:.*]] = math.exp
// CHECK: tile.reduce add %[[WEIGHTS]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[WEIGHTS]], %[[VALUE_SCALES]]
// CHECK: tile.dot (%[[SCALED]], %{{.*}}) by {{.*}} valid {{.*}} : tensor<64xf32>, tensor<64x4xi8>, tensor<4xf32>
