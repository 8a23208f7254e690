// Groups lie in panels whoever reads them: a tied head and the embedding share one copy. Other floats are packed as f32 is.
//
// RUN: llmc-opt %s --llmc-pack-weights | FileCheck %s
// RUN: llmc-opt %s --llmc-pack-weights --llmc-pack-weights | FileCheck %s

// CHECK: llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 8>, <panel_rows = 32>> from ["embed"]
// CHECK-NEXT: llm.weight @other_table : !llm.weight<100x64x!llm.group<bits = 4>, <panel_rows = 32>> from
// CHECK-NEXT: llm.weight @w : !llm.weight<64x64x!llm.group<bits = 4, minimum = true>, <panel_rows = 32>> from
// CHECK-NEXT: llm.weight @brain : !llm.weight<64x64xbf16, <panel_rows = 32>> from
// CHECK-NEXT: llm.weight @half : !llm.weight<100x64xf16> from
// CHECK-NEXT: llm.weight @half.panels : !llm.weight<100x64xf16, <panel_rows = 32>> from ["half"]
// CHECK-NOT: llm.weight
llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 8>> from ["embed"]
llm.weight @other_table : !llm.weight<100x64x!llm.group<bits = 4>> from ["other_table"]
llm.weight @w : !llm.weight<64x64x!llm.group<bits = 4, minimum = true>> from ["w"]
llm.weight @brain : !llm.weight<64x64xbf16> from ["brain"]
llm.weight @half : !llm.weight<100x64xf16> from ["half"]

// CHECK-LABEL: func.func @decode
func.func @decode(%step: !llm.step, %q: tensor<?x64x!llm.group<bits = 8>>, %x: tensor<?x64xf32>,
                  %o: tensor<?x64x!llm.group<bits = 8>, #llm.per<output>>, %p: tensor<?x64xf32, #llm.per<output>>)
    attributes {llm.graph = "decode"} {
  // CHECK: llm.embed %{{.*}}, @embed :
  %0 = llm.embed %step, @embed : tensor<?x64xf32>
  // CHECK: llm.lm_head %{{.*}}, @embed :
  %1 = llm.lm_head %o, @embed : tensor<?x64x!llm.group<bits = 8>, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  %2 = llm.embed %step, @other_table : tensor<?x64xf32>
  %3 = llm.linear %q, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x64xf32>
  %4 = llm.linear %x, @brain : tensor<?x64xf32> -> tensor<?x64xf32>
  // CHECK: llm.embed %{{.*}}, @half :
  %5 = llm.embed %step, @half : tensor<?x64xf32>
  // CHECK: llm.lm_head %{{.*}}, @half.panels :
  %6 = llm.lm_head %p, @half : tensor<?x64xf32, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  return
}
