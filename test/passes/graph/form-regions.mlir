// Every op of a graph gets a region of its own, named after its weight, its cache or its kind.
//
// RUN: llmc-opt %s --llmc-form-regions | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-form-regions | FileCheck %s

!cache = !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @layers.3.o : !llm.weight<64x64xf32> from ["o"]
llm.cache @layers.3.kv : !cache

// CHECK-LABEL: func.func @prefill
// CHECK-SAME: (%[[X:.*]]: tensor<?x64xf32>)
func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "prefill"} {
  // CHECK: %[[N:.*]] = llm.fused "norm" {
  // CHECK-NEXT: %[[INNER:.*]] = llm.rms_norm %[[X]], @norm
  // CHECK-NEXT: llm.yield %[[INNER]]
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  // CHECK: %[[O:.*]] = llm.fused "layers.3.o" {
  // CHECK-NEXT: llm.linear %[[N]], @layers.3.o
  %o = llm.linear %n, @layers.3.o : tensor<?x64xf32> -> tensor<?x64xf32>
  // CHECK: llm.fused "add" {
  // CHECK-NEXT: llm.add %[[X]], %[[O]]
  %s = llm.add %x, %o : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// What moves no data is copied into each region that uses it.
// CHECK-LABEL: func.func @decode
// CHECK-SAME: %[[Q:.*]]: tensor<?x32xf32>, %[[KV:.*]]: tensor<?x32xf32>)
func.func @decode(%step: !llm.step, %q: tensor<?x32xf32>, %kv: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x16xf32>)
    attributes {llm.graph = "decode"} {
  // CHECK-NOT: {{^    [^ ].*}} = llm.split
  // CHECK: llm.fused "layers.3.append" {
  // CHECK-NEXT: llm.split %[[KV]]
  // CHECK-NEXT: llm.kv_append
  %k, %v = llm.split %kv : tensor<?x32xf32> -> tensor<?x16xf32>, tensor<?x16xf32>
  %c = llm.kv_append @layers.3.kv, %k, %v, %step : tensor<?x16xf32>, tensor<?x16xf32> -> !cache
  // CHECK: llm.fused "layers.3.attention" {
  // CHECK-NEXT: llm.kv_view
  // CHECK-NEXT: llm.attention
  %view = llm.kv_view %c, %step : !llm.kv_view<!cache>
  %a = llm.attention %q, %view {heads = 4 : i64, scale = 0.35 : f32} : tensor<?x32xf32>, !llm.kv_view<!cache> -> tensor<?x32xf32>
  // CHECK: llm.fused "add" {
  // CHECK-NEXT: llm.split %[[KV]]
  // CHECK-NEXT: llm.add
  %s = llm.add %k, %v : tensor<?x16xf32>
  return %a, %s : tensor<?x32xf32>, tensor<?x16xf32>
}

// A part that leaves the graph is a value in memory: the split gets a region like any op.
// CHECK-LABEL: func.func @verify
func.func @verify(%x: tensor<?x64xf32>) -> tensor<?x48xf32> attributes {llm.graph = "verify"} {
  // CHECK: %[[PARTS:.*]]:2 = llm.fused "split" {
  // CHECK: return %[[PARTS]]#0
  %a, %b = llm.split %x : tensor<?x64xf32> -> tensor<?x48xf32>, tensor<?x16xf32>
  return %a : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @no_graph
func.func @no_graph(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK-NOT: llm.fused
  %s = llm.add %x, %x : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// A graph that is only declared has nothing to wrap.
// CHECK: func.func private @declared
func.func private @declared(!llm.step) attributes {llm.graph = "prefill"}
