// RUN: llmc-opt %s --llmc-pack-weights --split-input-file --verify-diagnostics
// RUN: not llmc-opt %s --llmc-pack-weights="panel-rows=-1" 2>&1 | FileCheck %s

// CHECK: error: {{.*}}-1

// expected-note @+1 {{the weight is declared here}}
llm.weight @table : !llm.weight<32x4xf32> computed <frequencies = [1.0, 0.5], magnitude = 1.0 : f32>

func.func @decode(%x: tensor<?x4xf32>) -> tensor<?x32xf32> attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects weight @table to come from a checkpoint, found a computed one}}
  %y = llm.linear %x, @table : tensor<?x4xf32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
