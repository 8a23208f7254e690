// What rope, cache and attention ops refuse: found, expected, and a note at the other place to blame.
//
// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @rope_heads(%q: tensor<?x16xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.rope' op expects the row (16) to be a multiple of heads (3)}}
  %r = llm.rope %q, %step, @rope {heads = 3 : i64} : tensor<?x16xf32>
  return
}

// -----

func.func @rope_odd_head(%q: tensor<?x12xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.rope' op expects an even head, found width 3}}
  %r = llm.rope %q, %step, @rope {heads = 4 : i64} : tensor<?x12xf32>
  return
}

// -----

// expected-note @+1 {{the weight is declared here}}
llm.weight @rope : !llm.weight<128x4xf32> computed <frequencies = [1.0, 0.01], magnitude = 1.0 : f32>

func.func @rope_table(%q: tensor<?x16xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.rope' op expects table @rope of shape [?, 8], found [128, 4]}}
  %r = llm.rope %q, %step, @rope {heads = 2 : i64} : tensor<?x16xf32>
  return
}

// -----

// expected-error @+1 {{cache element 'f16' has no kernels, expected f32, bf16 or i8}}
llm.cache @kv : !llm.kv_cache<heads = 2, key = 8, value = 4, element = f16, layout = head_major, chunk = 64>

// -----

func.func @rope_per_output(%q: tensor<?x16xf32, #llm.per<output>>, %step: !llm.step) {
  // expected-error @+1 {{'llm.rope' op expects an operand per row, found 'tensor<?x16xf32, #llm.per<output>>'}}
  %r = llm.rope %q, %step, @rope {heads = 4 : i64} : tensor<?x16xf32, #llm.per<output>>
  return
}

// -----

!cache = !llm.kv_cache<heads = 2, key = 8, value = 4, element = f32, layout = head_major, chunk = 64>
llm.cache @kv : !cache

func.func @append_widths(%k: tensor<?x16xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.kv_append' op expects key and value rows of 16 and 8, found 16 and 16}}
  %c = llm.kv_append @kv, %k, %k, %step : tensor<?x16xf32>, tensor<?x16xf32> -> !cache
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @append_no_cache(%k: tensor<?x8xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.kv_append' op names cache @kv, expected an llm.cache of that name in the module}}
  %c = llm.kv_append @kv, %k, %k, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
// expected-note @+1 {{the cache is declared here}}
llm.cache @kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = token_major, chunk = 64>

func.func @append_other_layout(%k: tensor<?x8xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.kv_append' op expects a result of the cache's type '!llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = token_major, chunk = 64>', found}}
  %c = llm.kv_append @kv, %k, %k, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
llm.cache @kv : !cache

func.func @append_per_output(%k: tensor<?x8xf32, #llm.per<output>>, %v: tensor<?x8xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.kv_append' op expects keys per row, found 'tensor<?x8xf32, #llm.per<output>>'}}
  %c = llm.kv_append @kv, %k, %v, %step : tensor<?x8xf32, #llm.per<output>>, tensor<?x8xf32> -> !cache
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @view_window(%c: !cache, %step: !llm.step) {
  // expected-error @+1 {{'llm.kv_view' op expects window >= 0, found -1}}
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache, window = -1>
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @view_of_another_cache(%c: !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>, %step: !llm.step) {
  // expected-error @+1 {{'llm.kv_view' op failed to verify that operand is the cache that the view is of}}
  %view = "llm.kv_view"(%c, %step) : (!llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>, !llm.step) -> !llm.kv_view<!cache>
  return
}

// -----

!cache = !llm.kv_cache<heads = 8, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

// expected-note @+1 {{key/value heads come from the view here}}
func.func @attention_heads(%q: tensor<?x240xf32>, %view: !llm.kv_view<!cache>) {
  // expected-error @+1 {{'llm.attention' op expects query heads (30) to be a multiple of key/value heads (8)}}
  %a = llm.attention %q, %view {heads = 30 : i64, scale = 0.35 : f32} : tensor<?x240xf32>, !llm.kv_view<!cache> -> tensor<?x240xf32>
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 4, element = f32, layout = head_major, chunk = 64>

func.func @attention_widths(%q: tensor<?x16xf32>, %view: !llm.kv_view<!cache>) {
  // expected-error @+1 {{'llm.attention' op expects query and result rows of 16 and 8, found 16 and 16}}
  %a = llm.attention %q, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @attention_scale(%q: tensor<?x16xf32>, %view: !llm.kv_view<!cache>) {
  // expected-error @+1 {{'llm.attention' op expects scale > 0, found -1.000000e+00 : f32}}
  %a = llm.attention %q, %view {heads = 2 : i64, scale = -1.0 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @attention_per_output(%q: tensor<?x16xf32, #llm.per<output>>, %view: !llm.kv_view<!cache>) {
  // expected-error @+1 {{'llm.attention' op expects queries per row, found 'tensor<?x16xf32, #llm.per<output>>'}}
  %a = llm.attention %q, %view {heads = 2 : i64, scale = 1.0 : f32} : tensor<?x16xf32, #llm.per<output>>, !llm.kv_view<!cache> -> tensor<?x16xf32, #llm.per<output>>
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @attention_parts(%q: tensor<?x16xf32>, %view: !llm.kv_view<!cache>) {
  // expected-error @+1 {{'llm.attention' op expects parts >= 1, found 0}}
  %a = llm.attention %q, %view {heads = 2 : i64, parts = 0 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
  return
}

// -----

func.func @merge_heads(%p: tensor<?x40xf32>) {
  // expected-error @+1 {{'llm.attention_merge' op expects a result row of whole heads, found 3 heads and a row of 16}}
  %a = llm.attention_merge %p {heads = 3 : i64, parts = 2 : i64, window = 0 : i64} : tensor<?x40xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @merge_width(%p: tensor<?x41xf32>) {
  // expected-error @+1 {{'llm.attention_merge' op expects 2 parts or more and a row of 40 for 2, found 41}}
  %a = llm.attention_merge %p {heads = 2 : i64, parts = 2 : i64, window = 0 : i64} : tensor<?x41xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @merge_window(%p: tensor<?x40xf32>) {
  // expected-error @+1 {{'llm.attention_merge' op expects window >= 0, found -1}}
  %a = llm.attention_merge %p {heads = 2 : i64, parts = 2 : i64, window = -1 : i64} : tensor<?x40xf32> -> tensor<?x16xf32>
  return
}
