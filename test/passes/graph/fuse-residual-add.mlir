// A linear and the addition after it become one region, named after the linear.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-residual-add | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-residual-add --llmc-fuse-residual-add | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-residual-add %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

llm.weight @o : !llm.weight<64x64xf32> from ["o"]
llm.weight @p : !llm.weight<64x64xf32> from ["p"]

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>, %[[H:.*]]: tensor<?x64xf32>)
func.func @prefill(%x: tensor<?x64xf32>, %h: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "prefill"} {
  // CHECK: llm.fused "o" {
  // CHECK-NEXT: %[[Y:.*]] = llm.linear %[[H]], @o
  // CHECK-NEXT: %[[Z:.*]] = llm.add %[[X]], %[[Y]]
  // CHECK-NEXT: llm.yield %[[Z]]
  // REMARK: adds to the residual stream as it is stored
  %y = llm.linear %h, @o : tensor<?x64xf32> -> tensor<?x64xf32>
  %z = llm.add %x, %y : tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}

// Of two linears one is inside, the other in memory before.
// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK: %[[P:.*]] = llm.fused "p"
  // CHECK: llm.fused "o" {
  // CHECK: llm.add %[[P]], %{{.*}}
  %y = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
  %w = llm.linear %x, @p : tensor<?x64xf32> -> tensor<?x64xf32>
  %both = llm.add %w, %y : tensor<?x64xf32>
  return %both : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @no_fuse_when_linear_has_two_users
func.func @no_fuse_when_linear_has_two_users(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) attributes {llm.graph = "verify"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: the linear has a second user
  %y = llm.linear %x, @o : tensor<?x64xf32> -> tensor<?x64xf32>
  %z = llm.add %x, %y : tensor<?x64xf32>
  return %z, %y : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @no_linear
func.func @no_linear(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "verify"} {
  // CHECK: llm.fused "add"
  // REMARK: not fused: no operand comes from a linear
  %z = llm.add %x, %x : tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}
