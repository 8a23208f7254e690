// Every op of the dialect, as its description in LLMOps.td shows it (examples.py checks that each example is here), parsed,
// printed and parsed again.
//
// RUN: llmc-opt %s | llmc-opt | FileCheck %s

// CHECK: llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]
llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]
llm.weight @norm : !llm.weight<64xf32> from ["norm"]
// CHECK: llm.weight @layers.0.qkv : !llm.weight<160x64xf32> from ["layers.0.q", "layers.0.k", "layers.0.v"]
llm.weight @layers.0.qkv : !llm.weight<160x64xf32> from ["layers.0.q", "layers.0.k", "layers.0.v"]
// CHECK: llm.weight @rope : !llm.weight<128x4xf32> computed <frequencies = [1.000000e+00, 0.00999999977], magnitude = 1.000000e+00 : f32>
llm.weight @rope : !llm.weight<128x4xf32> computed <frequencies = [1.0, 0.01], magnitude = 1.0 : f32>
// CHECK: llm.weight @packed : !llm.weight<100x64xf32, <panel_rows = 32>> from ["packed"]
llm.weight @packed : !llm.weight<100x64xf32, <panel_rows = 32>> from ["packed"]
// CHECK: llm.weight @bytes : !llm.weight<100x64x!llm.group<bits = 8>> from ["bytes"]
llm.weight @bytes : !llm.weight<100x64x!llm.group<bits = 8>> from ["bytes"]
// CHECK: llm.weight @nibbles : !llm.weight<160x64x!llm.group<bits = 4, minimum = true>, <panel_rows = 32>> from ["nibbles"]
llm.weight @nibbles : !llm.weight<160x64x!llm.group<bits = 4, minimum = true>, <panel_rows = 32>> from ["nibbles"]
// CHECK: llm.weight @brain : !llm.weight<100x64xbf16> from ["brain"]
llm.weight @brain : !llm.weight<100x64xbf16> from ["brain"]
// CHECK: llm.weight @half : !llm.weight<160x64xf16, <panel_rows = 32>> from ["half"]
llm.weight @half : !llm.weight<160x64xf16, <panel_rows = 32>> from ["half"]
llm.weight @w : !llm.weight<160x64xf32> from ["w"]
llm.weight @b : !llm.weight<160xf32> from ["b"]
llm.weight @o : !llm.weight<64x64xf32> from ["o"]
llm.weight @gate : !llm.weight<96x64xf32> from ["gate"]
llm.weight @up : !llm.weight<96x64xf32> from ["up"]
llm.weight @down : !llm.weight<64x96xf32> from ["down"]
llm.weight @gate_bias : !llm.weight<96xf32> from ["gate_bias"]
llm.weight @up_bias : !llm.weight<96xf32> from ["up_bias"]
llm.weight @down_bias : !llm.weight<64xf32> from ["down_bias"]
// CHECK: llm.cache @layers.0.kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
llm.cache @layers.0.kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
// CHECK: llm.cache @layers.1.kv : !llm.kv_cache<heads = 2, key = 8, value = 4, element = f32, layout = token_major, chunk = 64>
llm.cache @layers.1.kv : !llm.kv_cache<heads = 2, key = 8, value = 4, element = f32, layout = token_major, chunk = 64>

// CHECK-LABEL: func.func @embed_rows
func.func @embed_rows(%step: !llm.step) -> tensor<?x64xf32> {
  // CHECK: llm.embed %{{.*}}, @embed : tensor<?x64xf32>
  %x = llm.embed %step, @embed : tensor<?x64xf32>
  return %x : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @gather_rows
func.func @gather_rows(%x: tensor<?x64xf32>, %step: !llm.step) -> tensor<?x64xf32, #llm.per<output>> {
  // CHECK: llm.gather_rows %{{.*}}, %{{.*}} : tensor<?x64xf32> -> tensor<?x64xf32, #llm.per<output>>
  %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> tensor<?x64xf32, #llm.per<output>>
  return %o : tensor<?x64xf32, #llm.per<output>>
}

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: llm.rms_norm %{{.*}}, @norm {eps = 9.99999974E-6 : f32} : tensor<?x64xf32>
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  return %n : tensor<?x64xf32>
}

// The norm of each head by one weight.
// CHECK-LABEL: func.func @rms_norm_of_heads
func.func @rms_norm_of_heads(%x: tensor<?x128xf32>) -> tensor<?x128xf32> {
  // CHECK: llm.rms_norm %{{.*}}, @norm {eps = 9.99999997E-7 : f32, groups = 2 : i64} : tensor<?x128xf32>
  %n = llm.rms_norm %x, @norm {eps = 1.0e-06 : f32, groups = 2 : i64} : tensor<?x128xf32>
  return %n : tensor<?x128xf32>
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<?x64xf32>) -> (tensor<?x160xf32>, tensor<?x160xf32>) {
  // CHECK: llm.linear %{{.*}}, @w : tensor<?x64xf32> -> tensor<?x160xf32>
  // CHECK: llm.linear %{{.*}}, @w bias @b : tensor<?x64xf32> -> tensor<?x160xf32>
  %q = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x160xf32>
  %b = llm.linear %x, @w bias @b : tensor<?x64xf32> -> tensor<?x160xf32>
  return %q, %b : tensor<?x160xf32>, tensor<?x160xf32>
}

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<?x64xf32>) -> tensor<?x160xf32> {
  // CHECK: %[[ROW:.*]] = llm.quantize %{{.*}} : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
  %q8 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
  // CHECK: llm.linear %[[ROW]], @nibbles bias @b : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x160xf32>
  %y = llm.linear %q8, @nibbles bias @b : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x160xf32>
  return %y : tensor<?x160xf32>
}

// Wanted rows, and a head that is the embedding.
// CHECK-LABEL: func.func @quantized_head
func.func @quantized_head(%step: !llm.step, %o: tensor<?x64xf32, #llm.per<output>>) -> tensor<?x100xf32, #llm.per<output>> {
  // CHECK: llm.embed %{{.*}}, @bytes : tensor<?x64xf32>
  %x = llm.embed %step, @bytes : tensor<?x64xf32>
  // CHECK: llm.quantize %{{.*}} : tensor<?x64xf32, #llm.per<output>> -> tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>
  %q = llm.quantize %o : tensor<?x64xf32, #llm.per<output>> -> tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>
  // CHECK: llm.lm_head %{{.*}}, @bytes : tensor<?x64x!llm.group<bits = 8>, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  %l = llm.lm_head %q, @bytes : tensor<?x64x!llm.group<bits = 8>, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  return %l : tensor<?x100xf32, #llm.per<output>>
}

// CHECK-LABEL: func.func @split
func.func @split(%x: tensor<?x64xf32>) -> (tensor<?x48xf32>, tensor<?x16xf32>) {
  // CHECK: llm.split %{{.*}} : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x16xf32>
  %a, %b = llm.split %x : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x16xf32>
  return %a, %b : tensor<?x48xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @add
func.func @add(%x: tensor<?x64xf32>, %n: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: llm.add %{{.*}}, %{{.*}} : tensor<?x64xf32>
  %s = llm.add %x, %n : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @activate
func.func @activate(%g: tensor<?x96xf32>, %u: tensor<?x96xf32>) {
  // CHECK: llm.activate silu %{{.*}}, %{{.*}} : tensor<?x96xf32>
  // CHECK: llm.activate gelu_tanh
  // CHECK: llm.activate gelu_erf
  // CHECK: llm.activate relu
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  %h1 = llm.activate gelu_tanh %g, %u : tensor<?x96xf32>
  %h2 = llm.activate gelu_erf %g, %u : tensor<?x96xf32>
  %h3 = llm.activate relu %g, %u : tensor<?x96xf32>
  return
}

// CHECK-LABEL: func.func @mlp
func.func @mlp(%x: tensor<?x64xf32>) {
  // CHECK: llm.mlp silu %{{.*}}, @gate, @up, @down : tensor<?x64xf32>
  // CHECK: llm.mlp relu %{{.*}}, @gate, @up, @down bias @gate_bias, @up_bias, @down_bias : tensor<?x64xf32>
  %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32>
  %mb = llm.mlp relu %x, @gate, @up, @down bias @gate_bias, @up_bias, @down_bias : tensor<?x64xf32>
  return
}

// CHECK-LABEL: func.func @rope_heads
func.func @rope_heads(%q: tensor<?x16xf32>, %step: !llm.step) -> tensor<?x16xf32> {
  // CHECK: llm.rope %{{.*}}, %{{.*}}, @rope {heads = 4 : i64} : tensor<?x16xf32>
  %r = llm.rope %q, %step, @rope {heads = 4 : i64} : tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<?x16xf32>, %k: tensor<?x8xf32>, %v: tensor<?x8xf32>, %step: !llm.step) -> tensor<?x16xf32> {
  // CHECK: %[[CACHE:.*]] = llm.kv_append @layers.0.kv, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32> -> <heads = 1,
  %c = llm.kv_append @layers.0.kv, %k, %v, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
  // CHECK: %[[VIEW:.*]] = llm.kv_view %[[CACHE]], %{{.*}} : <<heads = 1, {{.*}}>, window = 16>
  %view = llm.kv_view %c, %step : !llm.kv_view<<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>, window = 16>
  // CHECK: llm.attention %{{.*}}, %[[VIEW]] {heads = 2 : i64, scale = 3.500000e-01 : f32} : tensor<?x16xf32>, <<heads = 1, {{.*}}>, window = 16> -> tensor<?x16xf32>
  %a = llm.attention %q, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>, window = 16> -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @attention_merge
func.func @attention_merge(%p: tensor<?x80xf32>) -> tensor<?x16xf32> {
  // CHECK: llm.attention_merge %{{.*}} {heads = 2 : i64, parts = 4 : i64, window = 0 : i64} : tensor<?x80xf32> -> tensor<?x16xf32>
  %y = llm.attention_merge %p {heads = 2 : i64, parts = 4 : i64, window = 0 : i64} : tensor<?x80xf32> -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// Keys and values of unequal width, no window.
// CHECK-LABEL: func.func @attention_narrow_values
func.func @attention_narrow_values(%q: tensor<?x32xf32>, %k: tensor<?x16xf32>, %v: tensor<?x8xf32>, %step: !llm.step) -> tensor<?x16xf32> {
  %c = llm.kv_append @layers.1.kv, %k, %v, %step : tensor<?x16xf32>, tensor<?x8xf32> -> !llm.kv_cache<heads = 2, key = 8, value = 4, element = f32, layout = token_major, chunk = 64>
  // CHECK: llm.kv_view {{.*}} : <<heads = 2, key = 8, value = 4, element = f32, layout = token_major, chunk = 64>>
  %view = llm.kv_view %c, %step : !llm.kv_view<<heads = 2, key = 8, value = 4, element = f32, layout = token_major, chunk = 64>>
  %a = llm.attention %q, %view {heads = 4 : i64, scale = 0.35 : f32} : tensor<?x32xf32>, !llm.kv_view<<heads = 2, key = 8, value = 4, element = f32, layout = token_major, chunk = 64>> -> tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @outputs
func.func @outputs(%o: tensor<?x64xf32, #llm.per<output>>, %step: !llm.step) -> tensor<?x2xi32, #llm.per<sequence>> {
  // CHECK: llm.lm_head %{{.*}}, @embed : tensor<?x64xf32, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  %l = llm.lm_head %o, @embed : tensor<?x64xf32, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  // CHECK: llm.speculative_verify %{{.*}}, %{{.*}} : tensor<?x100xf32, #llm.per<output>> -> tensor<?x2xi32, #llm.per<sequence>>
  %v = llm.speculative_verify %l, %step : tensor<?x100xf32, #llm.per<output>> -> tensor<?x2xi32, #llm.per<sequence>>
  return %v : tensor<?x2xi32, #llm.per<sequence>>
}

// CHECK-LABEL: func.func @fused
func.func @fused(%y0: tensor<?x64xf32>, %x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: llm.fused "layers.0.o" {
  // CHECK:   llm.yield %{{.*}} : tensor<?x64xf32>
  // CHECK: } : tensor<?x64xf32>
  %s = llm.fused "layers.0.o" {
    %y = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
    %z = llm.add %y, %x : tensor<?x64xf32>
    llm.yield %z : tensor<?x64xf32>
  } : tensor<?x64xf32>
  // CHECK: llm.fused "layers.0.add" schedule <lanes = 16, k_split = 2, row_tile = 4> {
  %t = llm.fused "layers.0.add" schedule <lanes = 16, k_split = 2, row_tile = 4> {
    %z = llm.add %s, %y0 : tensor<?x64xf32>
    llm.yield %z : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %t : tensor<?x64xf32>
}
