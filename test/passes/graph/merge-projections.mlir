// Linears of one input become one over the stacked weights, whose data stay where they are.
//
// RUN: llmc-opt %s --llmc-merge-projections --split-input-file | FileCheck %s
// RUN: llmc-opt %s --llmc-merge-projections --llmc-merge-projections --split-input-file | FileCheck %s
// RUN: llmc-opt %s --llmc-merge-projections --split-input-file %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two graphs share the merged weight; those that it replaces are gone.
// CHECK: llm.weight @layers.0.qkv : !llm.weight<160x64xf32> from ["q", "k", "v"]
// CHECK-NOT: llm.weight @layers.0.q :
// CHECK-NOT: llm.weight @layers.0.qkv_
llm.weight @layers.0.q : !llm.weight<96x64xf32> from ["q"]
llm.weight @layers.0.k : !llm.weight<32x64xf32> from ["k"]
llm.weight @layers.0.v : !llm.weight<32x64xf32> from ["v"]

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
func.func @prefill(%x: tensor<?x64xf32>) -> (tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "prefill"} {
  // CHECK: %[[ROW:.*]] = llm.linear %[[X]], @layers.0.qkv : tensor<?x64xf32> -> tensor<?x160xf32>
  // CHECK: %[[PARTS:.*]]:3 = llm.split %[[ROW]] : tensor<?x160xf32> -> tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>
  // CHECK: return %[[PARTS]]#0, %[[PARTS]]#1, %[[PARTS]]#2
  // REMARK: llmc-merge-projections{{.*}}merged 3 projections of one input
  %q = llm.linear %x, @layers.0.q : tensor<?x64xf32> -> tensor<?x96xf32>
  %k = llm.linear %x, @layers.0.k : tensor<?x64xf32> -> tensor<?x32xf32>
  %v = llm.linear %x, @layers.0.v : tensor<?x64xf32> -> tensor<?x32xf32>
  return %q, %k, %v : tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> (tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "decode"} {
  // CHECK: llm.linear %{{.*}}, @layers.0.qkv :
  %q = llm.linear %x, @layers.0.q : tensor<?x64xf32> -> tensor<?x96xf32>
  %k = llm.linear %x, @layers.0.k : tensor<?x64xf32> -> tensor<?x32xf32>
  %v = llm.linear %x, @layers.0.v : tensor<?x64xf32> -> tensor<?x32xf32>
  return %q, %k, %v : tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// Biases are stacked too, where all have one.
// CHECK-DAG: llm.weight @q_bias :
// CHECK-DAG: llm.weight @qk_bias : !llm.weight<64xf32> from ["q_bias", "k_bias"]
llm.weight @q : !llm.weight<32x64xf32> from ["q"]
llm.weight @k : !llm.weight<32x64xf32> from ["k"]
llm.weight @q_bias : !llm.weight<32xf32> from ["q_bias"]
llm.weight @k_bias : !llm.weight<32xf32> from ["k_bias"]

// CHECK-LABEL: func.func @prefill
func.func @prefill(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "prefill"} {
  // CHECK: llm.linear %{{.*}}, @qk bias @qk_bias
  %q = llm.linear %x, @q bias @q_bias : tensor<?x64xf32> -> tensor<?x32xf32>
  %k = llm.linear %x, @k bias @k_bias : tensor<?x64xf32> -> tensor<?x32xf32>
  return %q, %k : tensor<?x32xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "decode"} {
  // CHECK: llm.linear %{{.*}}, @q bias @q_bias
  // CHECK: llm.linear %{{.*}}, @k :
  // REMARK: llmc-merge-projections{{.*}}not merged: 1 of 2 projections have a bias
  %q = llm.linear %x, @q bias @q_bias : tensor<?x64xf32> -> tensor<?x32xf32>
  %k = llm.linear %x, @k : tensor<?x64xf32> -> tensor<?x32xf32>
  return %q, %k : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// Gate and up stay apart: one program needs the same column of both.
llm.weight @gate : !llm.weight<96x64xf32> from ["gate"]
llm.weight @up : !llm.weight<96x64xf32> from ["up"]

// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "decode"} {
  // CHECK: llm.linear %{{.*}}, @gate
  // CHECK: llm.linear %{{.*}}, @up
  %g = llm.linear %x, @gate : tensor<?x64xf32> -> tensor<?x96xf32>
  %u = llm.linear %x, @up : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.activate silu %g, %u : tensor<?x96xf32>
  return %h : tensor<?x96xf32>
}

// -----

// Two groups whose names would be the same ("a" + "bc", "ab" + "c") get weights of their own.
// CHECK-DAG: llm.weight @abc : !llm.weight<64x64xf32> from ["a", "bc"]
// CHECK-DAG: llm.weight @abc_ : !llm.weight<64x64xf32> from ["ab", "c"]
llm.weight @a : !llm.weight<32x64xf32> from ["a"]
llm.weight @bc : !llm.weight<32x64xf32> from ["bc"]
llm.weight @ab : !llm.weight<32x64xf32> from ["ab"]
llm.weight @c : !llm.weight<32x64xf32> from ["c"]

// CHECK-LABEL: func.func @prefill
func.func @prefill(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>)
    -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "prefill"} {
  // CHECK: llm.linear %{{.*}}, @abc :
  // CHECK: llm.linear %{{.*}}, @abc_ :
  %0 = llm.linear %x, @a : tensor<?x64xf32> -> tensor<?x32xf32>
  %1 = llm.linear %x, @bc : tensor<?x64xf32> -> tensor<?x32xf32>
  %2 = llm.linear %y, @ab : tensor<?x64xf32> -> tensor<?x32xf32>
  %3 = llm.linear %y, @c : tensor<?x64xf32> -> tensor<?x32xf32>
  return %0, %1, %2, %3 : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// A computed weight has no rows in a checkpoint to stack, and a packed one lies in panels already.
llm.weight @table : !llm.weight<32x4xf32> computed <frequencies = [1.0, 0.5], magnitude = 1.0 : f32>
llm.weight @packed : !llm.weight<32x4xf32, <panel_rows = 32>> from ["packed"]
llm.weight @w : !llm.weight<32x4xf32> from ["w"]

// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x4xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "decode"} {
  // CHECK: llm.linear %{{.*}}, @table
  // CHECK: llm.linear %{{.*}}, @packed
  // CHECK: llm.linear %{{.*}}, @w
  %0 = llm.linear %x, @table : tensor<?x4xf32> -> tensor<?x32xf32>
  %1 = llm.linear %x, @packed : tensor<?x4xf32> -> tensor<?x32xf32>
  %2 = llm.linear %x, @w : tensor<?x4xf32> -> tensor<?x32xf32>
  return %0, %1, %2 : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}

// CHECK-LABEL: func.func @no_graph
func.func @no_graph(%x: tensor<?x4xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  // CHECK-COUNT-2: llm.linear %{{.*}}, @w
  %0 = llm.linear %x, @w : tensor<?x4xf32> -> tensor<?x32xf32>
  %1 = llm.linear %x, @w : tensor<?x4xf32> -> tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// Only weights of one format are stacked: a merged one has a single layout.
// CHECK: llm.weight @qk : !llm.weight<64x64x!llm.group<bits = 4>> from ["q", "k"]
llm.weight @q : !llm.weight<32x64x!llm.group<bits = 4>> from ["q"]
llm.weight @k : !llm.weight<32x64x!llm.group<bits = 4>> from ["k"]
// CHECK: llm.weight @v : !llm.weight<32x64x!llm.group<bits = 8>> from ["v"]
llm.weight @v : !llm.weight<32x64x!llm.group<bits = 8>> from ["v"]

// CHECK-LABEL: func.func @no_merge_of_formats
func.func @no_merge_of_formats(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) attributes {llm.graph = "decode"} {
  // CHECK: llm.linear %{{.*}}, @qk :
  // CHECK: llm.linear %{{.*}}, @v :
  %q = llm.linear %x, @q : tensor<?x64xf32> -> tensor<?x32xf32>
  %k = llm.linear %x, @k : tensor<?x64xf32> -> tensor<?x32xf32>
  %v = llm.linear %x, @v : tensor<?x64xf32> -> tensor<?x32xf32>
  return %q, %k, %v : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}
