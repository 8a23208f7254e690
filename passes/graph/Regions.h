// SPDX-License-Identifier: Apache-2.0
//
// Making and merging fused regions: what the fusion passes have in common.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "mlir/IR/Builders.h"

namespace llmc::graph {

/// The functions of a module that are graphs: carry `llm.graph` and have a body. Passes leave other
/// functions alone.
llvm::SmallVector<mlir::FunctionOpInterface> graphsOf(mlir::ModuleOp module);
/// "prefill", "decode" or "verify"; empty outside a graph.
llvm::StringRef graphNameOf(mlir::Operation *op);
/// Calls `visit` for each `OpT` inside the graphs, in order.
template <typename OpT> void forEach(mlir::ModuleOp module, llvm::function_ref<void(OpT)> visit) {
  for (mlir::FunctionOpInterface graph : graphsOf(module))
    graph->walk([&](OpT op) { visit(op); });
}

/// Whether the op moves no data, so every region that needs its result has its own copy.
bool isFree(mlir::Operation *op);

/// The symbol of the matrix that the op multiplies its row by: a linear's or the head's; null for other
/// ops.
mlir::FlatSymbolRefAttr multipliedBy(mlir::Operation *op);

/// "layers.3.q": what people call the op: after its weight, its cache, or its kind.
std::string nameOf(mlir::Operation *op);

/// The one op of a region that `OpT` names, or null.
template <typename OpT> OpT findIn(llm::FusedOp region) {
  for (mlir::Operation &op : region.getBody().front())
    if (auto found = llvm::dyn_cast<OpT>(op))
      return found;
  return OpT();
}

/// Whether all ops of a region but its yield are among `OpTs`.
template <typename... OpTs> bool holdsOnly(llm::FusedOp region) {
  return llvm::all_of(region.getBody().front().without_terminator(),
                      [](mlir::Operation &op) { return llvm::isa<OpTs...>(op); });
}

/// The region that computes `value`, or null when it comes from elsewhere.
llm::FusedOp producerOf(mlir::Value value);

/// The only region that uses any result of `region` (null: none, several, or the function's
/// return).
llm::FusedOp soleUser(llm::FusedOp region);

/// Whether `producer` may move down to `consumer`: none of its users comes before it.
bool canJoin(llm::FusedOp producer, llm::FusedOp consumer);

/// Moves the body of `producer` to the front of `consumer`'s. Results of the producer that others
/// still use leave the new region after the consumer's own. Returns the region that replaces both.
llm::FusedOp join(llm::FusedOp producer, llm::FusedOp consumer, llvm::StringRef name);

} // namespace llmc::graph
