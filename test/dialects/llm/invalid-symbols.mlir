// What weights and caches refuse: found, expected, and a note at the other place to blame.
//
// RUN: llmc-opt %s --split-input-file --verify-diagnostics

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

// expected-error @+1 {{element type 'f64' has no kernels, expected f32, f16, bf16 or !llm.group}}
llm.weight @w : !llm.weight<4x4xf64> from ["w"]

// -----

// expected-error @+1 {{a weight of 1 dimension is f32, found 'bf16'}}
llm.weight @b : !llm.weight<64xbf16> from ["b"]

// -----

// expected-error @+1 {{a weight of 1 dimension is f32, found '!llm.group<bits = 8>'}}
llm.weight @b : !llm.weight<64x!llm.group<bits = 8>> from ["b"]

// -----

// expected-error @+1 {{groups need a multiple of 32 columns, found 48}}
llm.weight @w : !llm.weight<64x48x!llm.group<bits = 4>> from ["w"]

// -----

// expected-error @+1 {{a group has codes of 4 or 8 bits, found 6}}
llm.weight @w : !llm.weight<64x64x!llm.group<bits = 6>> from ["w"]

// -----

// expected-error @+1 {{'llm.weight' op expects a computed weight of f32, found '!llm.weight<8x4xbf16>'}}
llm.weight @rope : !llm.weight<8x4xbf16> computed <frequencies = [1.0, 0.5], magnitude = 1.0 : f32>

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

// expected-error @+1 {{cache element 'i4' has no kernels, expected f32, bf16 or i8}}
llm.cache @kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = i4, layout = head_major, chunk = 64>

// -----

// expected-error @+1 {{chunk is 32, expected 64: keys are reduced in chunks of 64 positions}}
llm.cache @kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 32>

// -----

func.func @nested_weight() {
  // expected-error @+1 {{'llm.weight' op expects parent op 'builtin.module'}}
  llm.weight @w : !llm.weight<4x4xf32> from ["w"]
  return
}
