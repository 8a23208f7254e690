// SPDX-License-Identifier: Apache-2.0
//
// Passes of the `graph` stage, in the order they run (Pipeline.cpp).
#ifndef LLMC_PASSES_GRAPH
#define LLMC_PASSES_GRAPH

include "mlir/Pass/PassBase.td"

def SetKVLayoutPass : Pass<"llmc-set-kv-layout", "::mlir::ModuleOp"> {
  let summary = "gives every cache its order inside a chunk";
  let description = [{
    Assumes: caches as imported. Guarantees: every `llm.cache` has the layout asked for, and all values that stand for it agree.

    ```mlir
    llm.cache @layers.0.kv : !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = head_major, chunk = 64>
    // becomes, with layout=token_major:
    llm.cache @layers.0.kv : !llm.kv_cache<heads = 2, key = 8, value = 8, element = f32, layout = token_major, chunk = 64>
    ```
  }];
  let options = [Option<"layout", "layout", "std::string", "\"head_major\"", "head_major or token_major">];
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
    of both); a bias on some only.

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
