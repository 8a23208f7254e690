// SPDX-License-Identifier: Apache-2.0
//
// What every fused region costs.
#include "passes/cost/CostTable.h"
#include "passes/Target.h"
#include "passes/graph/Regions.h"
#include <algorithm>

using namespace mlir;
using namespace llmc;

llm::StepShape llmc::plannedShape(StringRef graph, int64_t maxPositions) {
  llm::StepShape shape;
  shape.rows = graph == "decode" ? 1 : graph == "verify" ? 4 : 256;
  shape.outputs = graph == "verify" ? shape.rows : 1;
  shape.context = std::max(maxPositions / 2, shape.rows);
  return shape;
}

std::vector<RegionCost> llmc::costTable(ModuleOp module, int64_t maxPositions) {
  std::vector<RegionCost> table;
  for (FunctionOpInterface function : graph::graphsOf(module)) {
    std::string name = function->getAttrOfType<StringAttr>(llm::kGraphAttrName).str();
    llm::StepShape shape = plannedShape(name, maxPositions);
    for (auto region : function.getFunctionBody().front().getOps<llm::FusedOp>())
      table.push_back({name, region.getName().str(), stringify(kindOf(region)).str(), shape, region.getCost(shape)});
  }
  return table;
}
