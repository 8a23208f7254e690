// RUN: llmc-opt %s --llmc-verify-contract="stage=schedule" --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage schedule: every fused region has a schedule}}
  %s = llm.fused "s" {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

// A row tile may differ between graphs; parts of K may not.
llm.weight @w : !llm.weight<64x64xf32> from ["w"]

func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "prefill"} {
  // expected-note @+1 {{first scheduled here}}
  %y = llm.fused "w" schedule <k_split = 2, row_tile = 4> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage schedule: k_split of linear w fixes a reduction tree and is the same everywhere, found 1, expected 2}}
  %y = llm.fused "w" schedule <k_split = 1, row_tile = 1> {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// A norm alone and a norm inside a linear have the same lanes.
llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @w : !llm.weight<64x64xf32> from ["w"]

func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "prefill"} {
  // expected-note @+1 {{first scheduled here}}
  %y = llm.fused "norm" schedule <lanes = 32> {
    %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage schedule: lanes of rms_norm fixes a reduction tree and is the same everywhere, found 16, expected 32}}
  %y = llm.fused "w" schedule <lanes = 16> {
    %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    %1 = llm.linear %0, @w : tensor<?x64xf32> -> tensor<?x64xf32>
    llm.yield %1 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
