// A module of which one graph is planned: the plan of the other does not make the arena smaller than the first needs.
//
// RUN: llmc-opt %s --llmc-plan-arena --split-input-file | FileCheck %s

// CHECK: llm.outputs_arena_bytes = 64 : i64, llm.rows_arena_bytes = 1024 : i64
module attributes {llm.outputs_arena_bytes = 64 : i64, llm.rows_arena_bytes = 1024 : i64} {
  tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
  func.func @prefill(%step: !tile.step) attributes {llm.graph = "prefill"} {
    // CHECK: tile.slice rows offset 768
    %a = tile.slice rows offset 768 : !tile.view<?x64xf32>
    tile.launch @fill "a" grid(rows, 1) chunk 1 (%a) : (!tile.view<?x64xf32>) -> ()
    return
  }
  func.func @decode(%step: !tile.step) -> tensor<?x64xf32> attributes {llm.graph = "decode"} {
    // CHECK: tile.slice rows offset 0
    %a = tile.launch @fill "a" grid(rows, 1) chunk 1 () : () -> tensor<?x64xf32>
    return %a : tensor<?x64xf32>
  }
}

// -----

// A graph that returns nothing is planned all the same.
// CHECK: llm.rows_arena_bytes = 256 : i64
module {
  tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
  func.func @decode(%step: !tile.step) attributes {llm.graph = "decode"} {
    // CHECK: tile.slice rows offset 0
    %a = tile.launch @fill "a" grid(rows, 1) chunk 1 () : () -> tensor<?x64xf32>
    return
  }
}
