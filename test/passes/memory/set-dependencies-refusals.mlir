// RUN: llmc-opt %s --llmc-set-dependencies --split-input-file --verify-diagnostics

func.func private @lowered(!tile.view<?x8xf32>)

func.func @decode(%step: !tile.step) attributes {llm.graph = "decode"} {
  %a = tile.slice rows offset 0 : !tile.view<?x8xf32>
  // expected-error @+1 {{expects @lowered to be a tile.kernel still, since its stores tell what depends on it}}
  tile.launch @lowered "a" grid(rows, 1) chunk 1 (%a) : (!tile.view<?x8xf32>) -> ()
  return
}
