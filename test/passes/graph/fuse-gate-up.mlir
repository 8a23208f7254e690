// Gate, up and the activation of their product become one region.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up --llmc-fuse-gate-up | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

llm.weight @layers.0.gate : !llm.weight<96x64xf32> from ["gate"]
llm.weight @layers.0.up : !llm.weight<96x64xf32> from ["up"]
llm.weight @up_in_groups : !llm.weight<96x64x!llm.group<bits = 8>> from ["up"]

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "prefill"} {
  // CHECK: %[[H:.*]] = llm.fused "layers.0.gate_up" {
  // CHECK-NEXT: %[[GATE:.*]] = llm.linear %[[X]], @layers.0.gate
  // CHECK-NEXT: %[[UP:.*]] = llm.linear %[[X]], @layers.0.up
  // CHECK-NEXT: %[[PRODUCT:.*]] = llm.activate silu %[[GATE]], %[[UP]]
  // CHECK-NEXT: llm.yield %[[PRODUCT]]
  // CHECK: return %[[H]]
  // REMARK: gate, up and their product in one region
  %g = llm.linear %x, @layers.0.gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %u = llm.linear %x, @layers.0.up : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  return %h : tensor<?x96xf32>
}

// One linear may be both.
// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "decode"} {
  // CHECK: llm.fused
  // CHECK-NEXT: %[[GATE:.*]] = llm.linear
  // CHECK-NEXT: llm.activate silu %[[GATE]], %[[GATE]]
  %g = llm.linear %x, @layers.0.gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %g : tensor<?x96xf32>
  return %h : tensor<?x96xf32>
}

// A second user needs the gate in memory anyway.
// CHECK-LABEL: func.func @no_fuse_when_gate_has_two_users
func.func @no_fuse_when_gate_has_two_users(%x: tensor<?x64xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) attributes {llm.graph = "verify"} {
  // CHECK-COUNT-3: llm.fused
  // REMARK: not fused: a projection has a second user
  %g = llm.linear %x, @layers.0.gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %u = llm.linear %x, @layers.0.up : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  return %h, %g : tensor<?x96xf32>, tensor<?x96xf32>
}

// CHECK-LABEL: func.func @no_fuse_when_up_is_no_linear
func.func @no_fuse_when_up_is_no_linear(%x: tensor<?x64xf32>, %u: tensor<?x96xf32>) -> tensor<?x96xf32> attributes {llm.graph = "verify"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: an operand does not come from a linear
  %g = llm.linear %x, @layers.0.gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  return %h : tensor<?x96xf32>
}

// A linear kernel reads one row for all its projections.
// CHECK-LABEL: func.func @no_fuse_when_rows_differ
func.func @no_fuse_when_rows_differ(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "verify"} {
  // CHECK-COUNT-3: llm.fused
  // REMARK: not fused: gate and up read different rows
  %g = llm.linear %x, @layers.0.gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %u = llm.linear %y, @layers.0.up : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  return %h : tensor<?x96xf32>
}

// A program walks both weights in step: one layout.
// CHECK-LABEL: func.func @no_fuse_when_formats_differ
func.func @no_fuse_when_formats_differ(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "verify"} {
  // CHECK-COUNT-3: llm.fused
  // REMARK: not fused: gate and up are kept in different formats
  %g = llm.linear %x, @layers.0.gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %u = llm.linear %x, @up_in_groups : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  return %h : tensor<?x96xf32>
}
