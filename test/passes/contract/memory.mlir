// RUN: llmc-opt %s --llmc-verify-contract="stage=memory" --split-input-file --verify-diagnostics

// expected-error @+1 {{contract of stage memory: no llm op is left, found 'llm.weight'}}
llm.weight @w : !llm.weight<64x64xf32> from ["w"]

// -----

tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
func.func @decode(%step: !tile.step) attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage memory: launches write to places, found 1 results}}
  %a = tile.launch @fill "a" grid(rows, 1) chunk 1 after -1 () : () -> tensor<?x64xf32>
  return
}

// -----

tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
func.func @decode(%step: !tile.step, %x: tensor<?x64xf32>) attributes {llm.graph = "decode"} {
  // expected-error @+1 {{contract of stage memory: every operand is an arena slice, a packed weight or a cache}}
  tile.launch @fill "a" grid(rows, 1) chunk 1 after -1 (%x) : (tensor<?x64xf32>) -> ()
  return
}

// -----

tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
func.func @decode(%step: !tile.step) attributes {llm.graph = "decode"} {
  %a = tile.slice rows offset 0 : !tile.view<?x64xf32>
  // expected-error @+1 {{contract of stage memory: the dependency of launch 0 is -1 to -1, found none}}
  tile.launch @fill "a" grid(rows, 1) chunk 1 (%a) : (!tile.view<?x64xf32>) -> ()
  return
}

// -----

// Nothing waits for itself or for what comes after.
tile.kernel @fill(%step: !tile.step, %y: !tile.view<?x64xf32>) { tile.return }
func.func @decode(%step: !tile.step) attributes {llm.graph = "decode"} {
  %a = tile.slice rows offset 0 : !tile.view<?x64xf32>
  tile.launch @fill "a" grid(rows, 1) chunk 1 after -1 (%a) : (!tile.view<?x64xf32>) -> ()
  // expected-error @+1 {{contract of stage memory: the dependency of launch 1 is -1 to 0, found 1}}
  tile.launch @fill "b" grid(rows, 1) chunk 1 after 1 (%a) : (!tile.view<?x64xf32>) -> ()
  return
}
