// The wanted rows are read where they are normalised.
//
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gather-into-norm | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gather-into-norm --llmc-fuse-gather-into-norm | FileCheck %s
// RUN: llmc-opt %s --llmc-form-regions --llmc-fuse-gather-into-norm %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!out = tensor<?x64xf32, #llm.per<output>>

llm.weight @final_norm : !llm.weight<64xf32> from ["final_norm"]
llm.weight @head_norm : !llm.weight<8xf32> from ["head_norm"]

// CHECK-LABEL: func.func @prefill
func.func @prefill(%step: !llm.step, %x: tensor<?x64xf32>) -> !out attributes {llm.graph = "prefill"} {
  // CHECK: llm.fused "final_norm" {
  // CHECK-NEXT: %[[ROWS:.*]] = llm.gather_rows
  // CHECK-NEXT: llm.rms_norm %[[ROWS]], @final_norm
  // REMARK: normalises only the wanted rows
  %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> !out
  %n = llm.rms_norm %o, @final_norm {eps = 1.0e-05 : f32} : !out
  return %n : !out
}

// CHECK-LABEL: func.func @no_fuse_when_gather_has_two_users
func.func @no_fuse_when_gather_has_two_users(%step: !llm.step, %x: tensor<?x64xf32>) -> (!out, !out) attributes {llm.graph = "decode"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: several users
  %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> !out
  %n = llm.rms_norm %o, @final_norm {eps = 1.0e-05 : f32} : !out
  return %n, %o : !out, !out
}

// No kernel gathers and works head by head.
// CHECK-LABEL: func.func @no_fuse_into_head_norm
func.func @no_fuse_into_head_norm(%step: !llm.step, %x: tensor<?x64xf32>) -> !out attributes {llm.graph = "verify"} {
  // CHECK-COUNT-2: llm.fused
  // REMARK: not fused: its user is no norm of rows
  %o = llm.gather_rows %x, %step : tensor<?x64xf32> -> !out
  %n = llm.rms_norm %o, @head_norm {eps = 1.0e-05 : f32, groups = 8 : i64} : !out
  return %n : !out
}
