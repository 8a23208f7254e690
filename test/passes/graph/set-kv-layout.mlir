// Every cache, and every value that stands for one, gets the layout and the elements asked for.
//
// RUN: llmc-opt %s --llmc-set-kv-layout="layout=token_major" | FileCheck %s
// RUN: llmc-opt %s --llmc-set-kv-layout="layout=token_major" --llmc-set-kv-layout="layout=token_major" | FileCheck %s
// RUN: llmc-opt %s --llmc-set-kv-layout="layout=token_major" --llmc-set-kv-layout="layout=head_major" | FileCheck %s --check-prefix=BACK
// RUN: llmc-opt %s --llmc-set-kv-layout="element=bf16" | FileCheck %s --check-prefix=BF16
// RUN: llmc-opt %s --llmc-set-kv-layout="element=int8" | FileCheck %s --check-prefix=INT8
// RUN: not llmc-opt %s --llmc-set-kv-layout="element=f16" 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not llmc-opt %s --llmc-set-kv-layout="layout=diagonal" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

!heads = !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

// CHECK-NOT: head_major
// BACK-NOT: token_major
// BF16-NOT: element = f32
// BF16: llm.cache @layers.0.kv : {{.*}}element = bf16, layout = head_major
// BF16: llm.kv_append {{.*}}element = bf16
// BF16: llm.kv_view {{.*}}element = bf16
// INT8-NOT: element = f32
// INT8: llm.cache @layers.0.kv : {{.*}}element = i8, layout = head_major
// INT8: llm.kv_append {{.*}}element = i8
// INT8: llm.kv_view {{.*}}element = i8
// ELEMENT: error: unknown KV element 'f16', expected auto, f32, bf16 or int8
// UNKNOWN: error: unknown KV layout 'diagonal', expected head_major or token_major

// CHECK: llm.cache @layers.0.kv : {{.*}}layout = token_major
llm.cache @layers.0.kv : !heads

// CHECK-LABEL: @decode
// BACK-LABEL: @decode
func.func @decode(%step: !llm.step, %k: tensor<?x16xf32>, %v: tensor<?x16xf32>, %q: tensor<?x32xf32>) -> tensor<?x32xf32>
    attributes {llm.graph = "decode"} {
  // CHECK: llm.kv_append {{.*}}layout = token_major
  %c = llm.kv_append @layers.0.kv, %k, %v, %step : tensor<?x16xf32>, tensor<?x16xf32> -> !heads
  // CHECK: llm.kv_view {{.*}}layout = token_major, chunk = 64>, window = 16>
  %view = llm.kv_view %c, %step : !llm.kv_view<!heads, window = 16>
  // CHECK: llm.attention {{.*}}layout = token_major
  %a = llm.attention %q, %view {heads = 4 : i64, scale = 0.35 : f32} : tensor<?x32xf32>, !llm.kv_view<!heads, window = 16> -> tensor<?x32xf32>
  return %a : tensor<?x32xf32>
}
