// Rows are rounded where a weight in groups multiplies them: once for all their linears.
//
// RUN: llmc-opt %s --llmc-quantize-activations | FileCheck %s
// RUN: llmc-opt %s --llmc-quantize-activations --llmc-quantize-activations | FileCheck %s

!out = tensor<?x64xf32, #llm.per<output>>

llm.weight @gate : !llm.weight<96x64x!llm.group<bits = 4>> from ["gate"]
llm.weight @up : !llm.weight<96x64x!llm.group<bits = 8>> from ["up"]
llm.weight @plain : !llm.weight<96x64xf32> from ["plain"]
llm.weight @half : !llm.weight<96x64xbf16> from ["half"]
llm.weight @b : !llm.weight<96xf32> from ["b"]
llm.weight @lm_head : !llm.weight<100x64x!llm.group<bits = 8>> from ["lm_head"]

// CHECK-LABEL: func.func @one_rounding_for_all
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
func.func @one_rounding_for_all(%x: tensor<?x64xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>) attributes {llm.graph = "prefill"} {
  // CHECK: %[[ROW:.*]] = llm.quantize %[[X]] : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
  // CHECK-NEXT: llm.linear %[[ROW]], @gate bias @b : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x96xf32>
  // CHECK-NEXT: llm.linear %[[ROW]], @up : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x96xf32>
  // Weights of floats go on with the row as it was.
  // CHECK-NEXT: llm.linear %[[X]], @plain : tensor<?x64xf32>
  %g = llm.linear %x, @gate bias @b : tensor<?x64xf32> -> tensor<?x96xf32>
  %u = llm.linear %x, @up : tensor<?x64xf32> -> tensor<?x96xf32>
  %p = llm.linear %x, @plain : tensor<?x64xf32> -> tensor<?x96xf32>
  return %g, %u, %p : tensor<?x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>
}

// The head's rows are outputs.
// CHECK-LABEL: func.func @head
func.func @head(%o: !out) -> tensor<?x100xf32, #llm.per<output>> attributes {llm.graph = "decode"} {
  // CHECK: %[[ROW:.*]] = llm.quantize %{{.*}} : tensor<?x64xf32, #llm.per<output>> -> tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>
  // CHECK-NEXT: llm.lm_head %[[ROW]], @lm_head
  %l = llm.lm_head %o, @lm_head : !out -> tensor<?x100xf32, #llm.per<output>>
  return %l : tensor<?x100xf32, #llm.per<output>>
}

// CHECK-LABEL: func.func @no_rounding_for_floats
func.func @no_rounding_for_floats(%x: tensor<?x64xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) attributes {llm.graph = "verify"} {
  // CHECK-NOT: llm.quantize
  %p = llm.linear %x, @plain : tensor<?x64xf32> -> tensor<?x96xf32>
  %h = llm.linear %x, @half : tensor<?x64xf32> -> tensor<?x96xf32>
  return %p, %h : tensor<?x96xf32>, tensor<?x96xf32>
}

// CHECK-LABEL: func.func @no_second_rounding
func.func @no_second_rounding(%q: tensor<?x64x!llm.group<bits = 8>>) -> tensor<?x96xf32> attributes {llm.graph = "verify"} {
  // CHECK-NOT: llm.quantize
  %p = llm.linear %q, @up : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// CHECK-LABEL: func.func @no_graph
func.func @no_graph(%x: tensor<?x64xf32>) -> tensor<?x96xf32> {
  // CHECK-NOT: llm.quantize
  %p = llm.linear %x, @up : tensor<?x64xf32> -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}
