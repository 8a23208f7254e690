// SPDX-License-Identifier: Apache-2.0
//
// Passes of the `graph` stage, in the order they run (Pipeline.cpp).
#ifndef LLMC_PASSES_GRAPH
#define LLMC_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

def SetKVLayoutPass : Pass<"llmc-set-kv-layout", "::mlir::ModuleOp"> {
  let summary = "gives every cache its order inside a chunk, and the format of its elements";
  let description = [{
    Assumes: caches as imported. Guarantees: every `llm.cache` has the layout and the elements asked for, and all values that
    stand for it agree. `element=auto`: f32 where all weights are f32, else bf16. `element=int8`: codes of 8 bits, a scale for each
    head of a token.

    ```mlir
    llm.cache @layers.0.kv : !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
    // becomes, with layout=token_major element=bf16:
    llm.cache @layers.0.kv : !llm.kv_cache<heads = 2, key = 8, value = 8, element = bf16, layout = token_major, chunk = 64>
    ```
  }];
  let options = [Option<"layout", "layout", "std::string", "\"head_major\"", "head_major or token_major">,
                 Option<"element", "element", "std::string", "\"f32\"", "auto, f32, bf16 or int8">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def SplitAttentionPass : Pass<"llmc-split-attention", "::mlir::ModuleOp"> {
  let summary = "parts the keys of attention, and makes programs of the parts where a graph has one row a sequence";
  let description = [{
    `parts=0`: as many as make eight programs of a row's key/value heads. Refuses, with a remark: heads enough already.

    ```mlir
    %a = llm.attention %q, %view {heads = 4 : i64, scale = 0.35 : f32} : tensor<?x32xf32>, !llm.kv_view<...> -> tensor<?x32xf32>
    // becomes, with parts=2, in prefill and verify:
    %a = llm.attention %q, %view {heads = 4 : i64, parts = 2 : i64, scale = 0.35 : f32} : ... -> tensor<?x32xf32>
    // and in decode:
    %p = llm.attention %q, %view {heads = 4 : i64, parts = 2 : i64, scale = 0.35 : f32} : ... -> tensor<?x80xf32>
    %a = llm.attention_merge %p {heads = 4 : i64, parts = 2 : i64, window = 0 : i64} : tensor<?x80xf32> -> tensor<?x32xf32>
    ```
  }];
  let options = [Option<"parts", "parts", "int64_t", "0", "0: by the number of key/value heads">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def SetWeightFormatPass : Pass<"llmc-set-weight-format", "::mlir::ModuleOp"> {
  let summary = "decides the format that each weight matrix is kept in";
  let description = [{
    `keep` leaves the stored formats; `f32` and `bf16` take all matrices; `int8` and `int4` those whose rows are a multiple of 32,
    `int4` leaving the embedding and the head in 8 bits. Vectors (norms, biases) and computed tables stay f32. Refuses, with a
    remark: groups for a matrix whose columns are no multiple of 32.

    ```mlir
    llm.weight @w : !llm.weight<64x64xf32> from ["w"]
    // becomes, with format=int4:
    llm.weight @w : !llm.weight<64x64x!llm.group<bits = 4>> from ["w"]
    ```
  }];
  let options = [Option<"format", "format", "std::string", "\"keep\"", "keep, f32, bf16, int8 or int4">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def SplitMLPPass : Pass<"llmc-split-mlp", "::mlir::ModuleOp"> {
  let summary = "takes an MLP apart where its hidden row must be complete";
  let description = [{
    ```mlir
    %m = llm.mlp silu %x, @gate, @up, @down : tensor<?x64xf32>
    // becomes
    %g = llm.linear %x, @gate : tensor<?x64xf32> -> tensor<?x96xf32>
    %u = llm.linear %x, @up : tensor<?x64xf32> -> tensor<?x96xf32>
    %h = llm.activate silu %g, %u : tensor<?x96xf32>
    %m = llm.linear %h, @down : tensor<?x96xf32> -> tensor<?x64xf32>
    ```
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def MergeProjectionsPass : Pass<"llmc-merge-projections", "::mlir::ModuleOp"> {
  let summary = "makes linears of one input (q, k, v) one linear";
  let description = [{
    Refuses, with a remark: linears that meet in an `llm.activate` (gate and up stay apart: one program needs the same column
    of both); a bias on some only. Only weights of one format are stacked.

    ```mlir
    %q = llm.linear %x, @layers.0.q : tensor<?x64xf32> -> tensor<?x64xf32>
    %k = llm.linear %x, @layers.0.k : tensor<?x64xf32> -> tensor<?x16xf32>
    // becomes
    %y = llm.linear %x, @layers.0.qk : tensor<?x64xf32> -> tensor<?x80xf32>
    %q, %k = llm.split %y : tensor<?x80xf32> -> tensor<?x64xf32>, tensor<?x16xf32>
    ```
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def QuantizeActivationsPass : Pass<"llmc-quantize-activations", "::mlir::ModuleOp"> {
  let summary = "rounds rows to 8-bit integers where a weight in groups multiplies them";
  let description = [{
    One `llm.quantize` serves all linears of a row. Linears of float weights, and rows that are integers already, stay as they are.

    ```mlir
    %y = llm.linear %x, @w : tensor<?x64xf32> -> tensor<?x96xf32>
    // becomes, where @w is in groups:
    %q = llm.quantize %x : tensor<?x64xf32> -> tensor<?x64x!llm.group<bits = 8>>
    %y = llm.linear %q, @w : tensor<?x64x!llm.group<bits = 8>> -> tensor<?x96xf32>
    ```
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FormRegionsPass : Pass<"llmc-form-regions", "::mlir::ModuleOp"> {
  let summary = "wraps every op in a fused region of its own";
  let description = [{
    Ops that move no data (`llm.split`, `llm.kv_view`) are copied into each region that uses them. Afterwards every op of a graph
    is an `llm.fused`, named after its weight, cache or kind.

    ```mlir
    %n = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
    // becomes
    %n = llm.fused "norm" {
      %0 = llm.rms_norm %x, @norm {eps = 1.0e-05 : f32} : tensor<?x64xf32>
      llm.yield %0 : tensor<?x64xf32>
    } : tensor<?x64xf32>
    ```
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FuseGateUpPass : Pass<"llmc-fuse-gate-up", "::mlir::ModuleOp"> {
  let summary = "fuses gate, up and the activation of their product";
  let description = [{
    The two projections of an `llm.activate` join its region, so neither reaches memory. Only when the activation is their
    sole user: a second user would need them in memory anyway.
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FuseResidualAddPass : Pass<"llmc-fuse-residual-add", "::mlir::ModuleOp"> {
  let summary = "fuses a linear with the addition that follows it";
  let description = [{
    Only when the addition is the linear's sole user, and its other operand exists before the linear runs.
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FuseRopeAppendPass : Pass<"llmc-fuse-rope-append", "::mlir::ModuleOp"> {
  let summary = "fuses q/k norms, rotations and the append to the cache";
  let description = [{
    They all work on one head at a time, and read the same row.
  }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FuseGatherIntoNormPass : Pass<"llmc-fuse-gather-into-norm", "::mlir::ModuleOp"> {
  let summary = "reads the wanted rows where they are normalised";
  let description = [{ Only when the norm is the gather's sole user. }];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FuseQuantizePass : Pass<"llmc-fuse-quantize", "::mlir::ModuleOp"> {
  let summary = "rounds a row in the region that makes it";
  let description = [{
    Only when the rounding is the row's sole user, and the row comes from a region whose programs have whole groups of columns at
    hand: a row-wise one (a norm, an activated product), or a linear whose panels are groups.
  }];
  let options = [Option<"panelRows", "panel-rows", "int64_t", "32", "rows of a weight panel: columns that a linear's program makes at a time">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

def FuseNormIntoLinearPass : Pass<"llmc-fuse-norm-into-linear", "::mlir::ModuleOp"> {
  let summary = "fuses a norm into the linear that consumes it, so the normalised row never reaches memory";
  let description = [{
    Every program of the linear then normalises the row again, so the cost model decides: it pays where the step has few rows
    (decode, verify), and not where the linear is bound by arithmetic (prefill). Only when one region is the norm's sole user.
  }];
  let options = [Option<"panelRows", "panel-rows", "int64_t", "32", "rows of a weight panel: each repeats the norm">,
                 Option<"pays", "pays", "std::string", "\"cost\"", "cost, always or never">];
  let dependentDialects = ["::llmc::llm::LLMDialect"];
}

#endif
