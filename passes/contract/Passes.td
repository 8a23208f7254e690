// SPDX-License-Identifier: Apache-2.0
//
// What is true at the end of each stage, as a pass.
#ifndef LLMC_PASSES_CONTRACT
#define LLMC_PASSES_CONTRACT

include "mlir/Pass/PassBase.td"

def VerifyContractPass : Pass<"llmc-verify-contract", "::mlir::ModuleOp"> {
  let summary = "checks what a stage promises to the next";
  let description = [{
    `import`: graphs hold `llm` ops only. `graph`: every op of a graph is an `llm.fused`, and no `llm.mlp` is left. `schedule`: every
    region has a schedule, and fields that fix a reduction tree agree in all graphs. `tile`: no `llm` op but weights and caches;
    graphs are launches. `memory`: no `llm` op; every operand of a launch is an arena slice, a packed weight or a cache; each
    has a dependency before itself. `kernel`: no `tile.kernel` is left.
  }];
  let options = [Option<"stage", "stage", "std::string", "\"import\"", "stage whose promise is checked">];
}

#endif
