// RUN: llmc-opt %s --llmc-plan-arena --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects a graph to return what its launches compute, found another value of type 'tensor<?x64xf32>'}}
  return %x : tensor<?x64xf32>
}
