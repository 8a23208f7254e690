// SPDX-License-Identifier: Apache-2.0
//
// What every fused region of a module costs in a step of a given shape: FLOPs and bytes by kind, summed through
// CostModelInterface. The manifest carries it, so an artefact can say what it should cost wherever it is.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace llmc {

struct RegionCost {
  std::string graph;  ///< prefill, decode, verify
  std::string name;   ///< of the region and its command: "layers.3.qkv"
  std::string kind;   ///< linear, attention, ...
  llm::StepShape shape;
  llm::OpCost cost;
};

/// The step that a graph is planned for: one row of one sequence (decode), 4 (verify), 256 (prefill), half the positions as context.
llm::StepShape plannedShape(llvm::StringRef graph, int64_t maxPositions);

/// One entry for each region of each graph, in order, at the end of the graph or schedule stage.
std::vector<RegionCost> costTable(mlir::ModuleOp module, int64_t maxPositions);

} // namespace llmc
