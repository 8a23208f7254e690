// Every region of a graph gets the target's schedule; one that is there is kept; single fields can be forced.
//
// RUN: llmc-opt %s --llmc-set-schedule="target=cpu:x86-64-v3" | FileCheck %s --check-prefixes=CHECK,V3
// RUN: llmc-opt %s --llmc-set-schedule="target=cpu:x86-64-v3" --llmc-set-schedule="target=cpu:x86-64-v4" | FileCheck %s --check-prefixes=CHECK,V3
// RUN: llmc-opt %s --llmc-set-schedule="target=cpu:x86-64-v4" | FileCheck %s --check-prefixes=CHECK,V4
// RUN: llmc-opt %s --llmc-set-schedule="target=cpu:x86-64-v3 force=decode:linear:row_tile=3,w:k_tile=24,chunk=5" | FileCheck %s --check-prefix=FORCED
// RUN: llmc-opt %s --llmc-set-schedule="target=cpu:x86-64-v3 force=w:k_tile=24" %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

llm.weight @w : !llm.weight<96x64xf32> from ["w"]
llm.weight @norm : !llm.weight<64xf32> from ["norm"]

// CHECK-LABEL: func.func @prefill
// FORCED-LABEL: func.func @prefill
func.func @prefill(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "prefill"} {
  // Four vectors of lanes in a row-wise sum: 32 or 64.
  // V3: llm.fused "norm" schedule <lanes = 32, chunk
  // V4: llm.fused "norm" schedule <lanes = 64, chunk
  // FORCED: llm.fused "norm" {{.*}}, chunk = 5>
  // REMARK: row_wise: four vectors of lanes"
  %n = llm.fused "norm" {
    %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  // Many rows: panels are claimed one by one.
  // V3: llm.fused "w" {{.*}} row_tile = 2, k_tile = 16>
  // V4: llm.fused "w" {{.*}} row_tile = 8, k_tile = 16>
  // FORCED: llm.fused "w" {{.*}} row_tile = 2, {{.*}}k_tile = 24, chunk = 5>
  // REMARK: linear: 2 rows share a loaded weight{{.*}}, fields forced by the user
  %y = llm.fused "w" {
    %0 = llm.linear %n, @w : tensor<?x64xf32> -> tensor<?x96xf32>
    llm.yield %0 : tensor<?x96xf32>
  } : tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// CHECK-LABEL: func.func @decode
// FORCED-LABEL: func.func @decode
func.func @decode(%x: tensor<?x64xf32>) -> tensor<?x96xf32> attributes {llm.graph = "decode"} {
  // A batch shares as a prompt does; one row reads one panel after the other where the machine is not known.
  // V3: llm.fused "w" schedule <lanes = 32, row_tile = 2, k_tile = 16, chunk = 4>
  // FORCED: llm.fused "w" {{.*}} row_tile = 3, {{.*}}k_tile = 24, chunk = 5>
  %y = llm.fused "w" {
    %0 = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x96xf32>
    llm.yield %0 : tensor<?x96xf32>
  } : tensor<?x96xf32>
  return %y : tensor<?x96xf32>
}

// Set by hand: kept as it is.
// CHECK-LABEL: func.func @verify
func.func @verify(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {llm.graph = "verify"} {
  // CHECK: llm.fused "s" schedule <lanes = 16, chunk = 2>
  // REMARK: row_wise: set before"
  %s = llm.fused "s" schedule <lanes = 16, chunk = 2> {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @no_graph
func.func @no_graph(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: llm.fused "s" {
  %s = llm.fused "s" {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield %0 : tensor<?x64xf32>
  } : tensor<?x64xf32>
  return %s : tensor<?x64xf32>
}
