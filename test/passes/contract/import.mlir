// RUN: llmc-opt %s --llmc-verify-contract="stage=import" --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage import: graphs hold llm ops only, found 'arith.constant'}}
  %c = arith.constant 1 : i32
  return %x : tensor<?x64xf32>
}

// -----

// A function that is no graph may hold anything.
func.func @helper() {
  %c = arith.constant 1 : i32
  return
}
