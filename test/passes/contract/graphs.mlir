// What every stage relies on: a graph has a known name and one block.
//
// RUN: llmc-opt %s --llmc-verify-contract="stage=import" --split-input-file --verify-diagnostics
// RUN: not llmc-opt %s --llmc-verify-contract="stage=lunch" 2>&1 | FileCheck %s

// CHECK: error: unknown stage 'lunch', expected import, graph, schedule, tile, memory or kernel

// expected-error @+1 {{contract of stage import: a graph is prefill, decode or verify, found "draft"}}
func.func @draft(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "draft"} {
  return %x : tensor<?x64xf32>
}

// -----

// expected-error @+1 {{contract of stage import: a graph is prefill, decode or verify, found 1}}
func.func @one(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = 1 : i64} {
  return %x : tensor<?x64xf32>
}

// -----

// expected-error @+1 {{contract of stage import: a graph has one block, found 2}}
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  cf.br ^end
^end:
  return %x : tensor<?x64xf32>
}
