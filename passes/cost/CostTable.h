// SPDX-License-Identifier: Apache-2.0
//
// What every fused region of a module costs, summed through CostModelInterface: FLOPs and bytes by kind as formulas of the
// step's shape. The manifest carries the table, so an artefact can say what any step should cost wherever it is.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/CostTerms.h"

namespace llmc {

/// One entry for each region of each graph, in order, at the end of the graph or schedule stage.
std::vector<cost::RegionTerms> regionTerms(mlir::ModuleOp module);

} // namespace llmc
