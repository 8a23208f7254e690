// What each op refuses: found, expected, and a note at the other place to blame.
//
// RUN: llmc-opt %s --split-input-file --verify-diagnostics

//===--- Weights and caches ------------------------------------------------------------------------------------------===//

// expected-error @+1 {{'llm.weight' op expects either sources or a rule to compute it, found neither}}
llm.weight @w : !llm.weight<4x4xf32>

// -----

// expected-error @+1 {{'llm.weight' op expects either sources or a rule to compute it, found both}}
llm.weight @w : !llm.weight<4x4xf32> from ["w"] computed <frequencies = [1.0, 0.5], magnitude = 1.0 : f32>

// -----

// expected-error @+1 {{'llm.weight' op expects at least one source tensor, found an empty list}}
llm.weight @w : !llm.weight<4x4xf32> from []

// -----

// expected-error @+1 {{'llm.weight' op expects 4 columns for 2 frequencies, found '!llm.weight<8x6xf32>'}}
llm.weight @rope : !llm.weight<8x6xf32> computed <frequencies = [1.0, 0.5], magnitude = 1.0 : f32>

// -----

// expected-error @+1 {{a weight has 1 or 2 dimensions, found 3}}
llm.weight @w : !llm.weight<4x4x4xf32> from ["w"]

// -----

// expected-error @+1 {{a weight's dimensions are 1 to 2^31, found 0}}
llm.weight @w : !llm.weight<0x4xf32> from ["w"]

// -----

// expected-error @+1 {{element type 'f64' has no kernels, expected f32}}
llm.weight @w : !llm.weight<4x4xf64> from ["w"]

// -----

// expected-error @+1 {{panels need 2 dimensions, found 1}}
llm.weight @w : !llm.weight<4xf32, <panel_rows = 32>> from ["w"]

// -----

// expected-error @+2 {{panel rows (24) expected to be 0 or a power of two up to 256}}
// expected-error @+1 {{failed to parse LLM_WeightType parameter 'layout'}}
llm.weight @w : !llm.weight<4x4xf32, <panel_rows = 24>> from ["w"]

// -----

// expected-error @+1 {{heads (0), key (8) and value (8) expected to be 1 to 2^24}}
llm.cache @kv : !llm.kv_cache<heads = 0, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

// -----

// expected-error @+1 {{cache element 'i8' has no kernels, expected f32}}
llm.cache @kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = i8, layout = head_major, chunk = 64>

// -----

// expected-error @+1 {{chunk is 32, expected 64: keys are reduced in chunks of 64 positions}}
llm.cache @kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 32>

// -----

func.func @nested_weight() {
  // expected-error @+1 {{'llm.weight' op expects parent op 'builtin.module'}}
  llm.weight @w : !llm.weight<4x4xf32> from ["w"]
  return
}

// -----

//===--- Lines ---------------------------------------------------------------------------------------------------------===//

func.func @other_element(%x: tensor<?x4xf64>) {
  // expected-error @+1 {{'llm.add' op expects an operand of type tensor<?xWxf32>, found 'tensor<?x4xf64>'}}
  %s = llm.add %x, %x : tensor<?x4xf64>
  return
}

// -----

func.func @static_rows(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'llm.add' op expects an operand of type tensor<?xWxf32>, found 'tensor<3x4xf32>'}}
  %s = llm.add %x, %x : tensor<3x4xf32>
  return
}

// -----

func.func @other_encoding(%x: tensor<?x4xf32, "rows">) {
  // expected-error @+1 {{'llm.add' op expects an operand without encoding or per output or sequence, found 'tensor<?x4xf32, "rows">'}}
  %s = llm.add %x, %x : tensor<?x4xf32, "rows">
  return
}

// -----

func.func @row_spelled_twice(%x: tensor<?x4xf32, #llm.per<row>>) {
  // expected-error @+1 {{'llm.add' op expects an operand without encoding or per output or sequence, found 'tensor<?x4xf32, #llm.per<row>>'}}
  %s = llm.add %x, %x : tensor<?x4xf32, #llm.per<row>>
  return
}

// -----

//===--- Rows ----------------------------------------------------------------------------------------------------------===//

// expected-note @+1 {{the weight is declared here}}
llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]

func.func @embed_width(%step: !llm.step) {
  // expected-error @+1 {{'llm.embed' op expects table @embed of shape [?, 32], found [100, 64]}}
  %x = llm.embed %step, @embed : tensor<?x32xf32>
  return
}

// -----

llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]

func.func @embed_per_output(%step: !llm.step) {
  // expected-error @+1 {{'llm.embed' op expects a result per row, found 'tensor<?x64xf32, #llm.per<output>>'}}
  %x = llm.embed %step, @embed : tensor<?x64xf32, #llm.per<output>>
  return
}

// -----

func.func @no_weight(%step: !llm.step) {
  // expected-error @+1 {{'llm.embed' op names table @embed, expected an llm.weight of that name in the module}}
  %x = llm.embed %step, @embed : tensor<?x32xf32>
  return
}

// -----

func.func @gather_widths(%x: tensor<?x64xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.gather_rows' op expects equal widths, found 64 and 32}}
  %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> tensor<?x32xf32, #llm.per<output>>
  return
}

// -----

func.func @gather_to_rows(%x: tensor<?x64xf32>, %step: !llm.step) {
  // expected-error @+1 {{'llm.gather_rows' op expects an operand per row and a result per output, found 'tensor<?x64xf32>' and 'tensor<?x64xf32>'}}
  %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> tensor<?x64xf32>
  return
}

// -----

llm.weight @norm : !llm.weight<64xf32> from ["norm"]

func.func @norm_groups(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.rms_norm' op expects the row (64) to be a multiple of groups (3)}}
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32, groups = 3 : i64} : tensor<?x64xf32>
  return
}

// -----

// expected-note @+1 {{the weight is declared here}}
llm.weight @norm : !llm.weight<64xf32> from ["norm"]

func.func @norm_weight_of_the_whole_row(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.rms_norm' op expects weight @norm of shape [16], found [64]}}
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32, groups = 4 : i64} : tensor<?x64xf32>
  return
}

// -----

llm.weight @norm : !llm.weight<64xf32> from ["norm"]

func.func @norm_eps(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.rms_norm' op expects eps > 0, found 0.000000e+00 : f32}}
  %n = llm.rms_norm %x, @norm {eps = 0.0 : f32} : tensor<?x64xf32>
  return
}

// -----

// expected-note @+1 {{the weight is declared here}}
llm.weight @w : !llm.weight<160x64xf32> from ["w"]

func.func @linear_columns(%x: tensor<?x48xf32>) {
  // expected-error @+1 {{'llm.linear' op expects weight @w of shape [160, 48], found [160, 64]}}
  %y = llm.linear %x, @w : tensor<?x48xf32> -> tensor<?x160xf32>
  return
}

// -----

llm.weight @w : !llm.weight<160x64xf32> from ["w"]
// expected-note @+1 {{the weight is declared here}}
llm.weight @b : !llm.weight<64xf32> from ["b"]

func.func @linear_bias(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.linear' op expects bias @b of shape [160], found [64]}}
  %y = llm.linear %x, @w bias @b : tensor<?x64xf32> -> tensor<?x160xf32>
  return
}

// -----

llm.weight @w : !llm.weight<160x64xf32> from ["w"]

func.func @linear_lines(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.linear' op expects operand and result per the same line, found per row and per output}}
  %y = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x160xf32, #llm.per<output>>
  return
}

// -----

func.func @split_sum(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.split' op expects parts that add up to the row (64), found 63}}
  %a, %b = llm.split %x : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x15xf32>
  return
}

// -----

func.func @split_lines(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.split' op expects operand and result per the same line, found per row and per output}}
  %a, %b = llm.split %x : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x16xf32, #llm.per<output>>
  return
}

// -----

func.func @unknown_activation(%g: tensor<?x96xf32>) {
  // expected-error @+1 {{unknown activation 'swish', expected silu, gelu_tanh, gelu_erf or relu}}
  %h = llm.activate swish %g, %g : tensor<?x96xf32>
  return
}

// -----

llm.weight @gate : !llm.weight<96x64xf32> from ["gate"]
llm.weight @up : !llm.weight<96x64xf32> from ["up"]
// expected-note @+1 {{the weight is declared here}}
llm.weight @down : !llm.weight<64x80xf32> from ["down"]

func.func @mlp_chain(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.mlp' op expects down @down of shape [64, 96], found [64, 80]}}
  %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32>
  return
}

// -----

func.func @mlp_one_bias(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.mlp' op expects no bias or all three, found 1}}
  %m = "llm.mlp"(%x) <{activation = #llm<activation silu>, gate = @gate, up = @up, down = @down, up_bias = @b}> : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

//===--- Attention -----------------------------------------------------------------------------------------------------===//

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

//===--- Outputs -------------------------------------------------------------------------------------------------------===//

// expected-note @+1 {{the weight is declared here}}
llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]

func.func @head_vocabulary(%o: tensor<?x64xf32, #llm.per<output>>) {
  // expected-error @+1 {{'llm.lm_head' op expects weight @embed of shape [99, 64], found [100, 64]}}
  %l = llm.lm_head %o, @embed : tensor<?x64xf32, #llm.per<output>> -> tensor<?x99xf32, #llm.per<output>>
  return
}

// -----

func.func @verify_result(%l: tensor<?x100xf32, #llm.per<output>>, %step: !llm.step) {
  // expected-error @+1 {{'llm.speculative_verify' op expects logits per output and a result tensor<?x2xi32, #llm.per<sequence>>, found}}
  %v = llm.speculative_verify %l, %step : tensor<?x100xf32, #llm.per<output>> -> tensor<?x2xi32>
  return
}

// -----

//===--- Fused regions -------------------------------------------------------------------------------------------------===//

func.func @fused_types(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.fused' op expects results of the types that it yields}}
  %s = llm.fused "f" {
    // expected-note @+1 {{yielded here}}
    llm.yield %x : tensor<?x64xf32>
  } : tensor<?x32xf32>
  return
}

// -----

func.func @fused_without_yield(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.fused' op expects llm.yield at its end}}
  "llm.fused"() <{name = "f"}> ({
    %s = llm.add %x, %x : tensor<?x64xf32>
  }) : () -> ()
  return
}

// -----

func.func @fused_empty_block() {
  // expected-error @+1 {{'llm.fused' op expects a non-empty block}}
  "llm.fused"() <{name = "f"}> ({
  ^bb0:
  }) : () -> ()
  return
}

// -----

func.func @schedule_range(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{schedule field row_tile is 17, expected 1 to 16}}
  llm.fused "f" schedule <row_tile = 17> {
    llm.yield
  }
  return
}

// -----

func.func @yield_outside() {
  // expected-error @+1 {{'llm.yield' op expects parent op 'llm.fused'}}
  llm.yield
}
