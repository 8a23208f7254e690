// RUN: llmc-opt %s --llmc-verify-contract="stage=graph" --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage graph: every op of a graph is in a fused region, found 'llm.add'}}
  %s = llm.add %x, %x : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

llm.weight @gate : !llm.weight<96x64xf32> from ["gate"]
llm.weight @up : !llm.weight<96x64xf32> from ["up"]
llm.weight @down : !llm.weight<64x96xf32> from ["down"]

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  %s = llm.fused "mlp" {
    // expected-error @+1 {{contract of stage graph: every MLP is split}}
    %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32>
    llm.yield %m : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}
