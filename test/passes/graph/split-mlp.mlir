// An MLP becomes gate, up, the activation of their product, and down; in graphs only.
//
// RUN: llmc-opt %s --llmc-split-mlp | FileCheck %s
// RUN: llmc-opt %s --llmc-split-mlp --llmc-split-mlp | FileCheck %s

llm.weight @gate : !llm.weight<96x64xf32> from ["gate"]
llm.weight @up : !llm.weight<96x64xf32> from ["up"]
llm.weight @down : !llm.weight<64x96xf32> from ["down"]
llm.weight @gate_bias : !llm.weight<96xf32> from ["gate_bias"]
llm.weight @up_bias : !llm.weight<96xf32> from ["up_bias"]
llm.weight @down_bias : !llm.weight<64xf32> from ["down_bias"]

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "prefill"} {
  // CHECK: %[[GATE:.*]] = llm.linear %[[X]], @gate : tensor<?x64xf32> -> tensor<?x96xf32>
  // CHECK: %[[UP:.*]] = llm.linear %[[X]], @up : tensor<?x64xf32> -> tensor<?x96xf32>
  // CHECK: %[[PRODUCT:.*]] = llm.activate gelu_tanh %[[GATE]], %[[UP]] : tensor<?x96xf32>
  // CHECK: %[[DOWN:.*]] = llm.linear %[[PRODUCT]], @down : tensor<?x96xf32> -> tensor<?x64xf32>
  // CHECK: return %[[DOWN]]
  %m = llm.mlp gelu_tanh %x, @gate, @up, @down : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// Biases go to the linears whose they are.
// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK: llm.linear %{{.*}}, @gate bias @gate_bias
  // CHECK: llm.linear %{{.*}}, @up bias @up_bias
  // CHECK: llm.activate silu
  // CHECK: llm.linear %{{.*}}, @down bias @down_bias
  %m = llm.mlp silu %x, @gate, @up, @down bias @gate_bias, @up_bias, @down_bias : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}

// Lines are kept: one an output stays one an output.
// CHECK-LABEL: func.func @verify
func.func @verify(%x: tensor<?x64xf32, #llm.per<output>>) -> tensor<?x64xf32, #llm.per<output>> attributes {llm.graph = "verify"} {
  // CHECK: llm.activate silu {{.*}} : tensor<?x96xf32, #llm.per<output>>
  %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32, #llm.per<output>>
  return %m : tensor<?x64xf32, #llm.per<output>>
}

// CHECK-LABEL: func.func @no_graph
func.func @no_graph(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: llm.mlp
  %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32>
  return %m : tensor<?x64xf32>
}
