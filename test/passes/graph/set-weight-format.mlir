// Matrices of a checkpoint get the format asked for; the embedding and the head never 4 bits; vectors and tables stay f32.
//
// RUN: llmc-opt %s --llmc-set-weight-format | FileCheck %s --check-prefix=KEEP
// RUN: llmc-opt %s --llmc-set-weight-format="format=int4" | FileCheck %s --check-prefixes=CHECK,INT4
// RUN: llmc-opt %s --llmc-set-weight-format="format=int4" --llmc-set-weight-format="format=int4" | FileCheck %s --check-prefixes=CHECK,INT4
// RUN: llmc-opt %s --llmc-set-weight-format="format=int8" | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: llmc-opt %s --llmc-set-weight-format="format=bf16" | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: llmc-opt %s --llmc-set-weight-format="format=f32" | FileCheck %s --check-prefixes=CHECK,F32
// RUN: llmc-opt %s --llmc-set-weight-format="format=int4" %remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not llmc-opt %s --llmc-set-weight-format="format=int3" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: unknown weight format 'int3', expected keep, f32, bf16, int8 or int4

// REMARK: llmc-set-weight-format{{.*}}f32 becomes int8
// INT4: llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 8>> from ["embed"]
// INT8: llm.weight @embed : !llm.weight<100x64x!llm.group<bits = 8>>
// BF16: llm.weight @embed : !llm.weight<100x64xbf16>
// F32: llm.weight @embed : !llm.weight<100x64xf32>
// KEEP: llm.weight @embed : !llm.weight<100x64xf32>
llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]
// INT4: llm.weight @lm_head : !llm.weight<100x64x!llm.group<bits = 8>>
llm.weight @lm_head : !llm.weight<100x64xf32> from ["lm_head"]
// CHECK: llm.weight @norm : !llm.weight<64xf32>
llm.weight @norm : !llm.weight<64xf32> from ["norm"]
// CHECK: llm.weight @rope : !llm.weight<128x64xf32> computed
llm.weight @rope : !llm.weight<128x64xf32> computed <frequencies = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.09, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01, 0.009, 0.008, 0.007, 0.006, 0.005, 0.004, 0.003, 0.002, 0.001, 0.0009, 0.0008, 0.0007, 0.0006], magnitude = 1.0 : f32>
// As a GGUF file stores it: minimums go with another format.
// REMARK: llmc-set-weight-format{{.*}}int4+minimum becomes int4
// INT4: llm.weight @gate : !llm.weight<96x64x!llm.group<bits = 4>>
// INT8: llm.weight @gate : !llm.weight<96x64x!llm.group<bits = 8>>
// BF16: llm.weight @gate : !llm.weight<96x64xbf16>
// F32: llm.weight @gate : !llm.weight<96x64xf32>
// KEEP: llm.weight @gate : !llm.weight<96x64x!llm.group<bits = 4, minimum = true>>
llm.weight @gate : !llm.weight<96x64x!llm.group<bits = 4, minimum = true>> from ["gate"]
// No multiple of a group: the stored format stays.
// REMARK: llmc-set-weight-format{{.*}}kept as f16: 40 columns are no multiple of a group of 32
// INT4: llm.weight @odd : !llm.weight<64x40xf16>
// INT8: llm.weight @odd : !llm.weight<64x40xf16>
// BF16: llm.weight @odd : !llm.weight<64x40xbf16>
// F32: llm.weight @odd : !llm.weight<64x40xf32>
// KEEP: llm.weight @odd : !llm.weight<64x40xf16>
llm.weight @odd : !llm.weight<64x40xf16> from ["odd"]
// Panels are decided: what lies in them is, too.
// CHECK: llm.weight @packed : !llm.weight<64x64xf32, <panel_rows = 32>>
llm.weight @packed : !llm.weight<64x64xf32, <panel_rows = 32>> from ["packed"]

// The uses say which matrices are the vocabulary's, not their names.
func.func @decode(%step: !llm.step, %o: tensor<?x64xf32, #llm.per<output>>) -> (tensor<?x64xf32>, tensor<?x100xf32, #llm.per<output>>)
    attributes {llm.graph = "decode"} {
  %x = llm.embed %step, @embed : tensor<?x64xf32>
  %l = llm.lm_head %o, @lm_head : tensor<?x64xf32, #llm.per<output>> -> tensor<?x100xf32, #llm.per<output>>
  return %x, %l : tensor<?x64xf32>, tensor<?x100xf32, #llm.per<output>>
}
