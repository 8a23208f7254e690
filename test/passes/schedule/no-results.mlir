// A region that yields nothing, or only a view, has no kernel that a schedule could be for.
//
// RUN: llmc-opt %s --llmc-set-schedule --split-input-file --verify-diagnostics

func.func @decode(%x: tensor<?x64xf32>) attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects fused region "nothing" to yield a tensor or a cache first}}
  llm.fused "nothing" {
    %0 = llm.add %x, %x : tensor<?x64xf32>
    llm.yield
  }
  return
}

// -----

!cache = !llm.kv_cache<heads = 1, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>

func.func @decode(%c: !cache, %step: !llm.step) attributes {llm.graph = "decode"} {
  // expected-error @+1 {{expects fused region "view" to yield a tensor or a cache first}}
  %v = llm.fused "view" {
    %0 = llm.kv_view %c, %step : !llm.kv_view<!cache>
    llm.yield %0 : !llm.kv_view<!cache>
  } : !llm.kv_view<!cache>
  return
}
