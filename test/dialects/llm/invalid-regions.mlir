// What outputs and fused regions refuse: found, expected, and a note at the other place to blame.
//
// RUN: llmc-opt %s --split-input-file --verify-diagnostics

//===--- Outputs -------------------------------------------------------------------------------------------------------===//

// expected-note @+1 {{the weight is declared here}}
llm.weight @embed : !llm.weight<100x64xf32> from ["embed"]

func.func @head_vocabulary(%o: tensor<?x64xf32, #llm.per<output>>) {
  // expected-error @+1 {{'llm.lm_head' op expects weight @embed of shape [99, 64], found [100, 64]}}
  %l = llm.lm_head %o, @embed : tensor<?x64xf32, #llm.per<output>> -> tensor<?x99xf32, #llm.per<output>>
  return
}

// -----

func.func @verify_result(%l: tensor<?x100xf32, #llm.per<output>>, %step: !llm.step) {
  // expected-error @+1 {{'llm.speculative_verify' op expects logits per output and a result tensor<?x2xi32, #llm.per<sequence>>, found}}
  %v = llm.speculative_verify %l, %step : tensor<?x100xf32, #llm.per<output>> -> tensor<?x2xi32>
  return
}

// -----

//===--- Fused regions -------------------------------------------------------------------------------------------------===//

func.func @fused_types(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.fused' op expects results of the types that it yields}}
  %s = llm.fused "f" {
    // expected-note @+1 {{yielded here}}
    llm.yield %x : tensor<?x64xf32>
  } : tensor<?x32xf32>
  return
}

// -----

func.func @fused_without_yield(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{'llm.fused' op expects llm.yield at its end}}
  "llm.fused"() <{name = "f"}> ({
    %s = llm.add %x, %x : tensor<?x64xf32>
  }) : () -> ()
  return
}

// -----

func.func @fused_empty_block() {
  // expected-error @+1 {{'llm.fused' op expects a non-empty block}}
  "llm.fused"() <{name = "f"}> ({
  ^bb0:
  }) : () -> ()
  return
}

// -----

func.func @schedule_range(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{schedule field row_tile is 17, expected 1 to 16}}
  llm.fused "f" schedule <row_tile = 17> {
    llm.yield
  }
  return
}

// -----

func.func @yield_outside() {
  // expected-error @+1 {{'llm.yield' op expects parent op 'llm.fused'}}
  llm.yield
}
