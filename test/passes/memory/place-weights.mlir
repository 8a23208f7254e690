// Weights lie one after the other, 64-byte aligned, panels filled up; caches side by side inside a chunk block.
//
// RUN: llmc-opt %s --llmc-place-weights | FileCheck %s
// RUN: llmc-opt %s --llmc-place-weights --llmc-place-weights | FileCheck %s

// Two caches of 1 x (8 + 8) x 64 x 4 bytes.
// CHECK: module attributes {llm.chunk_bytes = 12288 : i64}

// 24 floats are 96 bytes: the next begins at 128. 40 x 24 in panels of 32 are two panels: 64 x 24 x 4 bytes.
// CHECK: tile.packed @norm 1 x 24 of f32 panel_rows 0 offset 0 bytes 96 {sources = ["norm"]}
llm.weight @norm : !llm.weight<24xf32> from ["norm"]
// CHECK: tile.packed @w 40 x 24 of f32 panel_rows 32 offset 128 bytes 6144 {sources = ["q", "k"]}
llm.weight @w : !llm.weight<40x24xf32, <panel_rows = 32>> from ["q", "k"]
// CHECK: tile.packed @rope 128 x 8 of f32 panel_rows 0 offset 6272 bytes 4096 {computed = #llm.rope_table<
llm.weight @rope : !llm.weight<128x8xf32> computed <frequencies = [1.0, 0.1, 0.01, 0.001], magnitude = 1.0 : f32>

// CHECK: tile.placed_cache @layers.0.kv : !tile.kv<heads = 1, key = 8, value = 8, tokenMajor = false, block = 12288> offset 0
llm.cache @layers.0.kv : !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
// CHECK: tile.placed_cache @layers.1.kv : !tile.kv<heads = 2, key = 8, value = 8, tokenMajor = true, block = 12288> offset 4096
llm.cache @layers.1.kv : !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = token_major, chunk = 64>
