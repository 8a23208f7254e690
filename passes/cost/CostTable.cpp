// SPDX-License-Identifier: Apache-2.0
//
// What every fused region costs.
#include "passes/cost/CostTable.h"
#include "passes/Target.h"
#include "passes/graph/Regions.h"

using namespace mlir;
using namespace llmc;
using llm::OpCost;
using llm::StepShape;

static OpCost less(OpCost left, const OpCost &right, double times = 1) {
  return left += {-right.flops * times, -right.weightBytes * times, -right.activationBytes * times, -right.kvBytes * times};
}

/// The terms out of six steps: costs are sums of products with the step's counts, so differences between steps that differ
/// in one count give its term. All numbers are whole, so none is rounded. A window is taken to hold three keys at least.
static cost::CostTerms termsOf(llm::FusedOp region) {
  cost::CostTerms terms;
  if (auto attention = graph::findIn<llm::AttentionOp>(region))
    terms.window = attention.getView().getType().getWindow();
  auto at = [&](int64_t rows, int64_t sequences, int64_t outputs, int64_t context) {
    return region.getCost(StepShape{rows, sequences, outputs, context});
  };
  const OpCost one = at(1, 1, 1, 1);
  terms.perOutput = less(at(1, 1, 2, 1), one);
  // Differences to `one` in terms of a row (r), a sequence (s), a key seen (k) and a key held (c).
  const OpCost held = less(at(1, 1, 1, 2), one);    // k + c
  const OpCost second = less(at(2, 1, 1, 2), one);  // r + 2k + c
  const OpCost third = less(at(3, 1, 1, 3), one);   // 2r + 5k + 2c
  const OpCost another = less(at(2, 2, 1, 1), one); // r + s + k + c
  terms.perKey = less(third, second, 2);
  terms.perContext = less(held, terms.perKey);
  terms.perRow = less(less(second, held), terms.perKey);
  terms.perSequence = less(less(another, held), terms.perRow);
  terms.fixed = one;
  for (const OpCost *term : {&terms.perRow, &terms.perOutput, &terms.perSequence, &terms.perKey, &terms.perContext})
    terms.fixed = less(terms.fixed, *term);
  return terms;
}

/// Quantised rows are multiplied as bytes, all else as f32.
static cost::Arithmetic arithmeticOf(llm::FusedOp region) {
  for (Operation &op : region.getBody().front())
    if (isa<llm::LinearOp, llm::LMHeadOp>(op))
      if (auto rows = dyn_cast<RankedTensorType>(op.getOperand(0).getType()); rows && isa<llm::GroupType>(rows.getElementType()))
        return cost::Arithmetic::Int8;
  return cost::Arithmetic::F32;
}

std::vector<cost::RegionTerms> llmc::regionTerms(ModuleOp module) {
  std::vector<cost::RegionTerms> table;
  for (FunctionOpInterface function : graph::graphsOf(module)) {
    std::string name = function->getAttrOfType<StringAttr>(llm::kGraphAttrName).str();
    for (auto region : function.getFunctionBody().front().getOps<llm::FusedOp>())
      table.push_back({name, region.getName().str(), stringify(kindOf(region)).str(), arithmeticOf(region), termsOf(region)});
  }
  return table;
}
