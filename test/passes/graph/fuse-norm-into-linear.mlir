// A norm goes into the linear that alone consumes it where the step has few rows, as the cost model says, or where told to.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-norm-into-linear | FileCheck %s --check-prefixes=CHECK,COST
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-norm-into-linear --llmc-fuse-norm-into-linear | FileCheck %s --check-prefixes=CHECK,COST
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-norm-into-linear="pays=always" | FileCheck %s --check-prefixes=CHECK,ALWAYS
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-norm-into-linear="pays=never" | FileCheck %s --check-prefixes=CHECK,NEVER
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-norm-into-linear %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @w : !llm.weight<96x64xf32> from ["w"]
llm.weight @o : !llm.weight<64x64xf32> from ["o"]

// One row a step: the weight's traffic hides the repeated norm.
// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "decode"} {
  // COST: llm.fused "w" {
  // COST-NEXT: llm.rms_norm
  // COST-NEXT: llm.linear
  // ALWAYS: llm.fused "w" {
  // ALWAYS-NEXT: llm.rms_norm
  // NEVER-COUNT-2: llm.fused
  // REMARK: norm inside the linear: at 1 rows the linear has
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %y = llm.linear %n, @w : tensor<?x64xf32> -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// Many rows: arithmetic is what is scarce.
// CHECK-LABEL: func.func @prefill
func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "prefill"} {
  // COST-COUNT-2: llm.fused
  // ALWAYS: llm.fused "w" {
  // ALWAYS-NEXT: llm.rms_norm
  // NEVER-COUNT-2: llm.fused
  // REMARK: not fused: at 256 rows the linear has
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %y = llm.linear %n, @w : tensor<?x64xf32> -> tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// CHECK-LABEL: func.func @no_fuse_when_norm_has_two_users
func.func @no_fuse_when_norm_has_two_users(%x: tensor<?x64xf32>) -> (tensor<?x96xf32>, tensor<?x64xf32>) attributes {llm.graph = "decode"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: the norm has two users or leaves the graph
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %y = llm.linear %n, @w : tensor<?x64xf32> -> tensor<?x96xf32>
  return %y, %n : tensor<?x96xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @no_fuse_into_addition
func.func @no_fuse_into_addition(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: its user is no linear
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %s = llm.add %x, %n : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// Here the norm is added to the product: a program has a panel's columns of it, not the row.
// CHECK-LABEL: func.func @no_fuse_when_norm_is_added_after
func.func @no_fuse_when_norm_is_added_after(%x: tensor<?x64xf32>, %h: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: the linear's region also uses the norm after the product
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  %s = llm.fused "o" {
    %y = llm.linear %h, @o : tensor<?x64xf32> -> tensor<?x64xf32>
    %z = llm.add %y, %n : tensor<?x64xf32>
    llm.yield %z : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}
