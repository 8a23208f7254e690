// What happens head by head between projections and attention becomes one region: q/k norms, rotations, the append.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-rope-append | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-rope-append --llmc-fuse-rope-append | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-rope-append %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
!wide = !llm.kv_cache<heads = 1, key = 16, value = 16, element = f32, layout = head_major, chunk = 64>

llm.weight @q_norm : !llm.weight<8xf32> from ["q_norm"]
llm.weight @k_norm : !llm.weight<8xf32> from ["k_norm"]
llm.weight @row_norm : !llm.weight<16xf32> from ["row_norm"]
llm.weight @rope : !llm.weight<128x8xf32> computed <frequencies = [1.0, 0.1, 0.01, 0.001], magnitude = 1.0 : f32>
llm.cache @layers.0.kv : !cache
llm.cache @wide : !wide

// The k norm of one head has one group: it is head-wise because a rotation of one head reads it.
// CHECK-LABEL: func.func @prefill
func.func @prefill(%step: !llm.step, %qkv: tensor<?x32xf32>) -> tensor<?x16xf32> attributes {llm.graph = "prefill"} {
  // CHECK: %[[BOTH:.*]]:2 = llm.fused "layers.0.append" {
  // CHECK-DAG: llm.rms_norm %{{.*}}, @q_norm
  // CHECK-DAG: llm.rms_norm %{{.*}}, @k_norm
  // CHECK-DAG: llm.rope %{{.*}} {heads = 2 : i64}
  // CHECK-DAG: llm.rope %{{.*}} {heads = 1 : i64}
  // CHECK: llm.kv_append @layers.0.kv
  // CHECK: llm.yield
  // CHECK: llm.fused "layers.0.attention" {
  // CHECK: llm.attention %[[BOTH]]#1
  // REMARK: norms, rotations and the append read one row, head by head
  %q, %k, %v = llm.split %qkv : tensor<?x32xf32> -> tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  %qn = llm.rms_norm %q, @q_norm {eps = 1.0e-05 : f32, groups = 2 : i64} : tensor<?x16xf32>
  %kn = llm.rms_norm %k, @k_norm {eps = 1.0e-05 : f32} : tensor<?x8xf32>
  %qr = llm.rope %qn, %step, @rope {heads = 2 : i64} : tensor<?x16xf32>
  %kr = llm.rope %kn, %step, @rope {heads = 1 : i64} : tensor<?x8xf32>
  %c = llm.kv_append @layers.0.kv, %kr, %v, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
  %a = llm.attention %qr, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// q comes from another row than k and v (unmerged projections): its rotation stays apart.
// CHECK-LABEL: func.func @decode
func.func @decode(%step: !llm.step, %q: tensor<?x16xf32>, %kv: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {llm.graph = "decode"} {
  // CHECK: llm.fused "rope"
  // CHECK-NEXT: llm.rope %{{.*}} {heads = 2 : i64}
  // CHECK: llm.fused "layers.0.append" {
  // CHECK: llm.rope %{{.*}} {heads = 1 : i64}
  // CHECK: llm.kv_append
  %k, %v = llm.split %kv : tensor<?x16xf32> -> tensor<?x8xf32>, tensor<?x8xf32>
  %qr = llm.rope %q, %step, @rope {heads = 2 : i64} : tensor<?x16xf32>
  %kr = llm.rope %k, %step, @rope {heads = 1 : i64} : tensor<?x8xf32>
  %c = llm.kv_append @layers.0.kv, %kr, %v, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
  %a = llm.attention %qr, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// Neither a norm of the whole row before a rotation of two heads, nor that rotation before an append of one head: whoever
// reads divides the row otherwise.
// CHECK-LABEL: func.func @no_fuse_when_heads_differ
func.func @no_fuse_when_heads_differ(%step: !llm.step, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>) -> !wide attributes {llm.graph = "verify"} {
  // CHECK: llm.fused "row_norm"
  // CHECK: llm.fused "rope"
  // CHECK: llm.fused "append"
  // CHECK-NEXT: llm.kv_append
  // REMARK: not fused: no head-wise region before it reads the same row
  %kn = llm.rms_norm %k, @row_norm {eps = 1.0e-05 : f32} : tensor<?x16xf32>
  %kr = llm.rope %kn, %step, @rope {heads = 2 : i64} : tensor<?x16xf32>
  %c = llm.kv_append @wide, %kr, %v, %step : tensor<?x16xf32>, tensor<?x16xf32> -> !wide
  return %c : !wide
}
