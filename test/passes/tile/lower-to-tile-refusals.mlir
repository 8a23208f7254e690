// Regions without a schedule, and combinations that no kernel kind covers, are errors that name the op.
//
// RUN: llmc-opt %s --llmc-lower-to-tile --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects every op of a graph in a fused region, found 'llm.add': run the graph and schedule stages first}}
  %s = llm.add %x, %x : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects a schedule on fused region "s": run the schedule stage first}}
  %s = llm.fused "s" {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects lanes of fused region "s" to be a power of two, found 24}}
  %s = llm.fused "s" schedule <lanes = 24> {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @decode(%c: !cache, %step: !llm.step, %q: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {llm.graph = "decode"} {
  %a = llm.fused "attention" schedule <lanes = 0, kv_chunk = 64> { // expected-error {{expects lanes of fused region "attention" to be a power of two, found 0}}
    %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
    %0 = llm.attention %q, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
    llm.yield %0 : tensor<?x16xf32>
  } : tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @decode(%c: !cache, %step: !llm.step, %q: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {llm.graph = "decode"} {
  %a = llm.fused "attention" schedule <lanes = 8, kv_chunk = 64> {
    %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
    // expected-error @+1 {{expects a cache that llm.kv_append wrote}}
    %0 = llm.attention %q, %view {heads = 2 : i64, scale = 0.35 : f32} : tensor<?x16xf32>, !llm.kv_view<!cache> -> tensor<?x16xf32>
    llm.yield %0 : tensor<?x16xf32>
  } : tensor<?x16xf32>
  return %a : tensor<?x16xf32>
}

// -----

llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 32>> from ["w"]

func.func @decode(%step: !llm.step, %x: tensor<?x64xf32>) -> tensor<?x64xf32, #llm.per<output>> attributes {llm.graph = "decode"} {
  %y = llm.fused "w" schedule <lanes = 8> {
    // expected-error @+1 {{no linear kernel holds 'llm.gather_rows'}}
    %0 = llm.gather_rows %x, %step : tensor<?x64xf32> -> tensor<?x64xf32, #llm.per<output>>
    %1 = llm.linear %0, @w : tensor<?x64xf32, #llm.per<output>> -> tensor<?x64xf32, #llm.per<output>>
    llm.yield %1 : tensor<?x64xf32, #llm.per<output>>
  } : tensor<?x64xf32, #llm.per<output>>
  return %y : tensor<?x64xf32, #llm.per<output>>
}

// -----

llm.weight @w : !llm.weight<64x64xf32> from ["w"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects weight @w in panels, found row-major}}
  %y = llm.fused "w" schedule <lanes = 8> {
    %1 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 32>> from ["w"]
llm.weight @norm : !llm.weight<64xf32> from ["norm"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "w" schedule <lanes = 8> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    // expected-error @+1 {{no linear kernel holds a norm after the product: a program does not have the whole row}}
    %1 = llm.rms_norm %0, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 32>> from ["w"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects projections of one input and one shape}}
  %y = llm.fused "w" schedule <lanes = 8> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    %1 = llm.linear %0, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

func.func @decode(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects one result of a row-wise region, found 2}}
  %y:2 = llm.fused "s" schedule <lanes = 8> {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %0, %x : tensor<?x64xf32>, tensor<?x64xf32>
  } : tensor<?x64xf32>, tensor<?x64xf32>
  return %y#0, %y#1 : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 32>> from ["w"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x32xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "w" schedule <lanes = 8> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    // expected-error @+1 {{no linear kernel holds a split of a row that 'llm.linear' computes in the region}}
    %1:2 = llm.split %0 : tensor<?x64xf32> -> tensor<?x32xf32>, tensor<?x32xf32>
    llm.yield %1#1 : tensor<?x32xf32>
  } : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// Rows of two heads are turned, rows of one are normalised: no head at a time holds both.
llm.weight @norm : !llm.weight<16xf32> from ["norm"]
llm.weight @rope : !llm.weight<128x8xf32> computed <frequencies = [1.0, 0.1, 0.01, 0.001], magnitude = 1.0 : f32>

func.func @decode(%step: !llm.step, %x: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "rope" schedule <lanes = 8> {
    // expected-error @+1 {{expects heads of 8 elements, as its reader in the region has, found 16}}
    %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x16xf32>
    %1 = llm.rope %0, %step, @rope {heads = 2 : i64} : tensor<?x16xf32>
    llm.yield %1 : tensor<?x16xf32>
  } : tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

llm.weight @norm : !llm.weight<5xf32> from ["norm"]

func.func @decode(%x: tensor<?x15xf32>) -> tensor<?x15xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects heads of even width, found 5}}
  %y = llm.fused "norm" schedule <lanes = 8> {
    %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32, groups = 3 : i64} : tensor<?x15xf32>
    llm.yield %0 : tensor<?x15xf32>
  } : tensor<?x15xf32>
  return %y : tensor<?x15xf32>
}

// -----

// A cache that the graph returns has no place in memory.
!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
llm.cache @kv : !cache

func.func @decode(%step: !llm.step, %k: tensor<?x8xf32>) -> !cache attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects result 0 of fused region "append" to be used by regions or returned as a tensor}}
  %c = llm.fused "append" schedule <lanes = 8> {
    %0 = llm.kv_append @kv, %k, %k, %step : tensor<?x8xf32>, tensor<?x8xf32> -> !cache
    llm.yield %0 : !cache
  } : !cache
  return %c : !cache // expected-note {{used here}}
}

// -----

// Products of integers need integers on both sides.
llm.weight @w : !llm.weight<64x64x!llm.group<bits = 4>, <panel_rows = 32>> from ["w"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects a quantised row for weight @w in groups, found 'tensor<?x64xf32>': run llmc-quantize-activations first}}
  %y = llm.fused "w" schedule <lanes = 8> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @w : !llm.weight<64x64x!llm.group<bits = 4>, <panel_rows = 32>> from ["w"]

// A program of a linear has a panel of columns of its own row, and all groups of its input's.
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "w" schedule <lanes = 8> {
    // expected-error @+1 {{no linear kernel goes on with a quantised row, expected it to be what the region yields}}
    %0 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    %1 = llm.linear %0, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// A row leaves rounded only where a program makes whole groups of it.
llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 16>> from ["w"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64x!llm.group<bits = 8>> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects panels of 32 rows where the result is rounded in groups, found 16}}
  %y = llm.fused "w" schedule <lanes = 8> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    %1 = llm.quantize %0 : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    llm.yield %1 : tensor<?x64x!llm.group<bits = 8>>
  } : tensor<?x64x!llm.group<bits = 8>>
  return %y : tensor<?x64x!llm.group<bits = 8>>
}

// -----

// A rounded row leaves the region or is not made there.
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %y = llm.fused "s" schedule <lanes = 8> {
    // expected-error @+1 {{no row-wise kernel goes on with a quantised row, expected it to be what the region yields}}
    %0 = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    %1 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 8>, <panel_rows = 32>> from ["embed"]
llm.weight @norm : !llm.weight<64xf32> from ["norm"]

func.func @decode(%step: !llm.step) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{no row-wise kernel fuses an embedding in groups, expected it alone in its region}}
  %y = llm.fused "embed" schedule <lanes = 8> {
    %0 = llm.embed %step, @embed : tensor<?x64xf32>
    %1 = llm.rms_norm %0, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// Groups are kept in panels, an embedding's too.
llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 8>> from ["embed"]

func.func @decode(%step: !llm.step) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects table @embed of groups in panels, found row-major}}
  %y = llm.fused "embed" schedule <lanes = 8> {
    %0 = llm.embed %step, @embed : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
