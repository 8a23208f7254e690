// A row is rounded in the region that makes it.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up --llmc-fuse-quantize | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up --llmc-fuse-quantize --llmc-fuse-quantize | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up --llmc-fuse-quantize="panel-rows=16" | FileCheck %s --check-prefix=WIDE
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gate-up --llmc-fuse-quantize="panel-rows=16" %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-quantize %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!row = tensor<?x64x!llm.group<bits = 8>>
!out = tensor<?x64xf32, #llm.per<output>>
!rounded_out = tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>

llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @head_norm : !llm.weight<8xf32> from ["head_norm"]
llm.weight @w : !llm.weight<64x64x!llm.group<bits = 4>> from ["w"]

// CHECK-LABEL: func.func @rounded_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
func.func @rounded_norm(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK: %[[ROW:.*]] = llm.fused "norm" {
  // CHECK-NEXT: %[[N:.*]] = llm.rms_norm %[[X]], @norm
  // CHECK-NEXT: %[[Q:.*]] = llm.quantize %[[N]]
  // CHECK-NEXT: llm.yield %[[Q]] : tensor<?x64x!llm.group<bits = 8>>
  // CHECK: llm.fused "w" {
  // CHECK-NEXT: llm.linear %[[ROW]], @w
  // REMARK: llmc-fuse-quantize{{.*}}the row leaves as integers: a quarter of its bytes, and one command less
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %q = llm.quantize %n : tensor<?x64xf32> -> !row
  %y = llm.linear %q, @w : !row -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// An activated product, wanted rows: whatever is row-wise.
// CHECK-LABEL: func.func @activate_and_gather
func.func @activate_and_gather(%step: !llm.step, %g: tensor<?x64xf32>, %u: tensor<?x64xf32>) -> (!row, !rounded_out) attributes {llm.graph = "prefill"} {
  // CHECK: llm.fused {{.*}} {
  // CHECK-NEXT: %[[H:.*]] = llm.activate silu
  // CHECK-NEXT: llm.quantize %[[H]]
  // CHECK: llm.fused {{.*}} {
  // CHECK-NEXT: %[[O:.*]] = llm.gather_rows
  // CHECK-NEXT: llm.quantize %[[O]]
  %h = llm.activate silu %g, %u : tensor<?x64xf32>
  %q = llm.quantize %h : tensor<?x64xf32> -> !row
  %o = llm.gather_rows %g, %step : tensor<?x64xf32> -> !out
  %p = llm.quantize %o : !out -> !rounded_out
  return %q, %p : !row, !rounded_out
}

// The second user needs the floats in memory anyway.
// CHECK-LABEL: func.func @no_fuse_when_row_has_two_users
func.func @no_fuse_when_row_has_two_users(%x: tensor<?x64xf32>) -> (!row, tensor<?x64xf32>) attributes {llm.graph = "verify"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: llmc-fuse-quantize{{.*}}not fused: the row has a second user
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %q = llm.quantize %n : tensor<?x64xf32> -> !row
  return %q, %n : !row, tensor<?x64xf32>
}

// A linear's program makes a panel of columns: a group. So does one of gate, up and their product.
// CHECK-LABEL: func.func @linear
// WIDE-LABEL: func.func @linear
func.func @linear(%r: !row) -> !row attributes {llm.graph = "verify"} {
  // CHECK: %[[OUT:.*]] = llm.fused "w" {
  // CHECK-NEXT: %[[Y:.*]] = llm.linear %{{.*}}, @w
  // CHECK-NEXT: %[[Q:.*]] = llm.quantize %[[Y]]
  // CHECK-NEXT: llm.yield %[[Q]]
  // CHECK: return %[[OUT]]
  // WIDE-COUNT-2: llm.fused
  // NARROW: llmc-fuse-quantize{{.*}}not fused: a panel of 16 columns is no group of 32
  %y = llm.linear %r, @w : !row -> tensor<?x64xf32>
  %q = llm.quantize %y : tensor<?x64xf32> -> !row
  return %q : !row
}

// CHECK-LABEL: func.func @gate_up
func.func @gate_up(%r: !row) -> !row attributes {llm.graph = "decode"} {
  // CHECK-COUNT-1: llm.fused
  // CHECK: llm.activate silu
  // CHECK-NEXT: llm.quantize
  // CHECK-NOT: llm.fused
  // CHECK: return
  %g = llm.linear %r, @w : !row -> tensor<?x64xf32>
  %u = llm.linear %r, @w : !row -> tensor<?x64xf32>
  %h = llm.activate silu %g, %u : tensor<?x64xf32>
  %q = llm.quantize %h : tensor<?x64xf32> -> !row
  return %q : !row
}

// CHECK-LABEL: func.func @no_fuse_into_norm_of_heads
func.func @no_fuse_into_norm_of_heads(%x: tensor<?x64xf32>) -> !row attributes {llm.graph = "verify"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: llmc-fuse-quantize{{.*}}not fused: its row is made by neither a row-wise region nor a linear
  %n = llm.rms_norm %x, @head_norm {eps = 1.0e-05 : f32, groups = 8 : i64} : tensor<?x64xf32>
  %q = llm.quantize %n : tensor<?x64xf32> -> !row
  return %q : !row
}

// CHECK-LABEL: func.func @no_maker
func.func @no_maker(%x: tensor<?x64xf32>) -> !row attributes {llm.graph = "verify"} {
  // CHECK-COUNT-1: llm.fused
  // REMARK: llmc-fuse-quantize{{.*}}not fused: its row is no region's
  %q = llm.quantize %x : tensor<?x64xf32> -> !row
  return %q : !row
}
