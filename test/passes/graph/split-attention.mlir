// Keys fall into parts in every graph; where a graph has one row a sequence, their results leave and are merged by an op.
//
// RUN: llmc-opt %s --llmc-split-attention | FileCheck %s
// RUN: llmc-opt %s --llmc-split-attention="parts=2" | FileCheck %s --check-prefix=TWO
// RUN: llmc-opt %s --llmc-split-attention="parts=2" --llmc-split-attention="parts=8" | FileCheck %s --check-prefix=TWO
// RUN: llmc-opt %s --llmc-split-attention %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sed 's/heads = 2, key/heads = 8, key/; s/x16xf32/x64xf32/g; s/x32xf32/x64xf32/g; s/heads = 4/heads = 8/' %s | llmc-opt --llmc-split-attention %remarks 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not llmc-opt %s --llmc-split-attention="parts=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// REMARK: layers.0.attention{{.*}}keys in 4 parts
// MANY: layers.0.attention{{.*}}not split: its key/value heads are programs enough
// MANY-NOT: parts
// NEGATIVE: error: expects parts >= 0 (0: as many as the heads call for), found -1

!heads = !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

llm.cache @layers.0.kv : !heads

// CHECK-LABEL: @prefill
// TWO-LABEL: @prefill
func.func @prefill(%step: !llm.step, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>, %q: tensor<?x32xf32>) -> tensor<?x32xf32>
    attributes {llm.graph = "prefill"} {
  %c = llm.kv_append @layers.0.kv, %k, %v, %step : tensor<?x16xf32>, tensor<?x16xf32> -> !heads
  %view = llm.kv_view %c, %step : !llm.kv_view<!heads, window = 16>
  // CHECK: llm.attention {{.*}}heads = 4 : i64, parts = 4 : i64{{.*}} -> tensor<?x32xf32>
  // TWO: llm.attention {{.*}}heads = 4 : i64, parts = 2 : i64{{.*}} -> tensor<?x32xf32>
  // CHECK-NOT: llm.attention_merge
  // TWO-NOT: llm.attention_merge
  %a = llm.attention %q, %view {heads = 4 : i64, scale = 0.35 : f32} : tensor<?x32xf32>, !llm.kv_view<!heads, window = 16> -> tensor<?x32xf32>
  return %a : tensor<?x32xf32>
}

// CHECK-LABEL: @decode
// TWO-LABEL: @decode
func.func @decode(%step: !llm.step, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>, %q: tensor<?x32xf32>) -> tensor<?x32xf32>
    attributes {llm.graph = "decode"} {
  %c = llm.kv_append @layers.0.kv, %k, %v, %step : tensor<?x16xf32>, tensor<?x16xf32> -> !heads
  %view = llm.kv_view %c, %step : !llm.kv_view<!heads, window = 16>
  // 4 parts x 4 heads x (8 values, a maximum and a sum).
  // CHECK: %[[PARTS:.*]] = llm.attention {{.*}}parts = 4 : i64{{.*}} -> tensor<?x160xf32>
  // CHECK: %[[ALL:.*]] = llm.attention_merge %[[PARTS]] {heads = 4 : i64, parts = 4 : i64, window = 16 : i64} : tensor<?x160xf32> -> tensor<?x32xf32>
  // CHECK: return %[[ALL]]
  // TWO: %[[PARTS:.*]] = llm.attention {{.*}}parts = 2 : i64{{.*}} -> tensor<?x80xf32>
  // TWO-COUNT-1: llm.attention_merge %[[PARTS]]
  %a = llm.attention %q, %view {heads = 4 : i64, scale = 0.35 : f32} : tensor<?x32xf32>, !llm.kv_view<!heads, window = 16> -> tensor<?x32xf32>
  return %a : tensor<?x32xf32>
}
