// What ops on rows refuse: found, expected, and a note at the other place to blame.
//
// RUN: llmc-opt %s --split-input-file --verify-diagnostics

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

//===--- Rows in groups ------------------------------------------------------------------------------------------------===//

func.func @quantize_floats(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.quantize' op expects a result of type tensor<?xWx!llm.group<bits = 8>>, W a multiple of 32, found 'tensor<?x64xf32>'}}
  %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64xf32>
  return
}

// -----

func.func @quantize_to_4_bits(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.quantize' op expects a result of type tensor<?xWx!llm.group<bits = 8>>, W a multiple of 32, found 'tensor<?x64x!llm.group<bits = 4>>'}}
  %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 4>>
  return
}

// -----

func.func @quantize_with_minimum(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.quantize' op expects a result of type tensor<?xWx!llm.group<bits = 8>>, W a multiple of 32, found 'tensor<?x64x!llm.group<bits = 8, minimum = true>>'}}
  %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8, minimum = true>>
  return
}

// -----

func.func @quantize_part_of_a_group(%x: tensor<?x48xf32>) {
  // expected-error @+1 {{'llm.quantize' op expects a result of type tensor<?xWx!llm.group<bits = 8>>, W a multiple of 32, found 'tensor<?x48x!llm.group<bits = 8>>'}}
  %q = llm.quantize %x : tensor<?x48xf32> -> tensor<?x48x!llm.group<bits = 8>>
  return
}

// -----

func.func @quantize_twice(%x: tensor<?x64x!llm.group<bits = 8>>) {
  // expected-error @+1 {{'llm.quantize' op expects an operand of type tensor<?xWxf32>, found 'tensor<?x64x!llm.group<bits = 8>>'}}
  %q = llm.quantize %x : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x64x!llm.group<bits = 8>>
  return
}

// -----

func.func @quantize_widths(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.quantize' op expects equal widths, found 64 and 96}}
  %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x96x!llm.group<bits = 8>>
  return
}

// -----

func.func @quantize_lines(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.quantize' op expects operand and result per the same line, found per row and per output}}
  %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>
  return
}

// -----

// expected-note @+1 {{the weight is declared here}}
llm.weight @w : !llm.weight<96x64xf32> from ["w"]

func.func @groups_by_floats(%x: tensor<?x64x!llm.group<bits = 8>>) {
  // expected-error @+1 {{'llm.linear' op expects a weight in groups for a quantised row, found @w of '!llm.weight<96x64xf32>'}}
  %y = llm.linear %x, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x96xf32>
  return
}

// -----

// expected-note @+1 {{the weight is declared here}}
llm.weight @lm_head : !llm.weight<96x64xbf16> from ["lm_head"]

func.func @groups_by_floats_of_the_head(%x: tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>) {
  // expected-error @+1 {{'llm.lm_head' op expects a weight in groups for a quantised row, found @lm_head of '!llm.weight<96x64xbf16>'}}
  %y = llm.lm_head %x, @lm_head : tensor<?x64x!llm.group<bits = 8>, #llm.per<output>> -> tensor<?x96xf32, #llm.per<output>>
  return
}

// -----

llm.weight @w : !llm.weight<96x64x!llm.group<bits = 8>> from ["w"]

func.func @product_of_4_bits(%x: tensor<?x64x!llm.group<bits = 4>>) {
  // expected-error @+1 {{'llm.linear' op expects an operand of type tensor<?xWx!llm.group<bits = 8>>, W a multiple of 32, found 'tensor<?x64x!llm.group<bits = 4>>'}}
  %y = llm.linear %x, @w : tensor<?x64x!llm.group<bits = 4>> -> tensor<?x96xf32>
  return
}

// -----

llm.weight @w : !llm.weight<96x64x!llm.group<bits = 8>> from ["w"]

func.func @product_in_groups(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.linear' op expects a result of type tensor<?xWxf32>, found 'tensor<?x96x!llm.group<bits = 8>>'}}
  %y = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x96x!llm.group<bits = 8>>
  return
}

// -----

func.func @sum_of_groups(%x: tensor<?x64x!llm.group<bits = 8>>) {
  // expected-error @+1 {{'llm.add' op expects an operand of type tensor<?xWxf32>, found 'tensor<?x64x!llm.group<bits = 8>>'}}
  %y = llm.add %x, %x : tensor<?x64x!llm.group<bits = 8>>
  return
}
