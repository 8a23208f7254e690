// Weights of linears lie in panels; what is read by rows stays as it is; a tied head is declared twice.
//
// RUN: llmc-opt %s --llmc-pack-weights | FileCheck %s
// RUN: llmc-opt %s --llmc-pack-weights --llmc-pack-weights | FileCheck %s
// RUN: llmc-opt %s --llmc-pack-weights="panel-rows=16" | FileCheck %s --check-prefix=NARROW

// CHECK: llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]
// CHECK-NEXT: llm.weight @embed.panels : !llm.weight<100x64xf32, <panel_rows = 32>> from ["embed"]
// CHECK-NEXT: llm.weight @norm : !llm.weight<64xf32> from
// CHECK-NEXT: llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 32>> from ["w"]
// CHECK-NEXT: llm.weight @b : !llm.weight<64xf32> from
// NARROW: llm.weight @w : !llm.weight<64x64xf32, <panel_rows = 16>>
llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]
llm.weight @norm : !llm.weight<64xf32> from ["norm"]
llm.weight @w : !llm.weight<64x64xf32> from ["w"]
llm.weight @b : !llm.weight<64xf32> from ["b"]

// A linear and the head both multiply by the table that the embedding reads.
// CHECK-LABEL: func.func @decode
func.func @decode(%step: !llm.step) -> tensor<?x100xf32, #llm.per<output>> attributes {llm.graph = "decode"} {
  // CHECK: llm.embed %{{.*}}, @embed :
  %x = llm.embed %step, @embed : tensor<?x64xf32>
  %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
  // CHECK: llm.linear %{{.*}}, @w bias @b
  %y = llm.linear %n, @w bias @b : tensor<?x64xf32> -> tensor<?x64xf32>
  // CHECK: llm.linear %{{.*}}, @embed.panels
  %z = llm.linear %y, @embed : tensor<?x64xf32> -> tensor<?x100xf32>
  %o = llm.gather_rows %y, %step : tensor<?x64xf32> -> tensor<?x64xf32, #llm.per<output>>
  // CHECK: llm.lm_head %{{.*}}, @embed.panels
  %l = llm.lm_head %o, @embed : tensor<?x64xf32, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  return %l : tensor<?x100xf32, #llm.per<output>>
}
