// SPDX-License-Identifier: Apache-2.0
//
// What the cost model asks of every op.
#ifndef LLMC_DIALECTS_LLM_INTERFACES
#define LLMC_DIALECTS_LLM_INTERFACES

include "mlir/IR/OpBase.td"

def LLM_CostModelInterface : OpInterface<"CostModelInterface"> {
  let cppNamespace = "::llmc::llm";
  let description = [{
    FLOPs (a multiply-add is two) and bytes of one op in one step, were it alone in its kernel: operands read once, results
    written once. Fusion subtracts what no longer reaches memory (passes/cost).
  }];
  let methods = [InterfaceMethod<"FLOPs and bytes by kind for a step of the given shape", "::llmc::llm::OpCost", "getCost",
                                 (ins "const ::llmc::llm::StepShape &":$shape)>];
}

#endif
