// Weights in groups and in 16 bits take what their layout says; a rounded row takes its words.
//
// RUN: llmc-opt %s --llmc-place-weights --llmc-plan-arena | FileCheck %s

// 40 rows are two panels; of 3 groups a row: 64 * 3 * (16 + 2), with a minimum 64 * 3 * (16 + 4), 8 bits 64 * 3 * (32 + 2).
// CHECK: tile.packed @int4 40 x 96 of !llm.group<bits = 4> panel_rows 32 offset 0 bytes 3456 {sources = ["int4"]}
llm.weight @int4 : !llm.weight<40x96x!llm.group<bits = 4>, <panel_rows = 32>> from ["int4"]
// CHECK: tile.packed @int4_minimum 40 x 96 of !llm.group<bits = 4, minimum = true> panel_rows 32 offset 3456 bytes 3840
llm.weight @int4_minimum : !llm.weight<40x96x!llm.group<bits = 4, minimum = true>, <panel_rows = 32>> from ["int4_minimum"]
// CHECK: tile.packed @int8 40 x 96 of !llm.group<bits = 8> panel_rows 32 offset 7296 bytes 6528
llm.weight @int8 : !llm.weight<40x96x!llm.group<bits = 8>, <panel_rows = 32>> from ["int8"]
// CHECK: tile.packed @half 40 x 96 of f16 panel_rows 32 offset 13824 bytes 12288
llm.weight @half : !llm.weight<40x96xf16, <panel_rows = 32>> from ["half"]
// CHECK: tile.packed @brain 40 x 96 of bf16 panel_rows 0 offset 26112 bytes 7680
llm.weight @brain : !llm.weight<40x96xbf16> from ["brain"]

// 96 columns are 24 words of codes, 3 scales, 3 sums, 3 products of both: 132 bytes, and the next value of the arena lies behind them.
// CHECK-LABEL: func.func @prefill
func.func @prefill(%step: !tile.step) attributes {llm.graph = "prefill"} {
  // CHECK: tile.slice rows offset [[ROW:[0-9]+]] : <?x33xi32>
  // CHECK: tile.slice rows offset {{[0-9]+}} : <?x96xf32>
  %q = tile.launch @round "round" grid(rows, 1) chunk 1 () : () -> tensor<?x33xi32>
  %y = tile.launch @use "use" grid(rows, 1) chunk 1 (%q) : (tensor<?x33xi32>) -> tensor<?x96xf32>
  tile.launch @end "end" grid(rows, 1) chunk 1 (%y) : (tensor<?x96xf32>) -> ()
  return
}
tile.kernel @round(%step: !tile.step, %y: !tile.view<?x33xi32>) { tile.return }
tile.kernel @use(%step: !tile.step, %x: !tile.view<?x33xi32>, %y: !tile.view<?x96xf32>) { tile.return }
tile.kernel @end(%step: !tile.step, %x: !tile.view<?x96xf32>) { tile.return }
