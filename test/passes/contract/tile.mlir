// RUN: llmc-opt %s --llmc-verify-contract="stage=tile" --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage tile: no llm op is left, found 'llm.add'}}
  %s = llm.add %x, %x : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// -----

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage tile: graphs are launches, found 'arith.constant'}}
  %c = arith.constant 1 : i32
  return %x : tensor<?x64xf32>
}
