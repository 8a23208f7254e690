// SPDX-License-Identifier: Apache-2.0
//
// Makes linears of one input one linear over the stacked weights (q, k, v), so one command reads
// the row once. The data do not move: the merged weight names its sources. Gate and up stay apart,
// since one program needs the same column of both.
#include "mlir/IR/Builders.h"
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace llmc {
#define GEN_PASS_DEF_MERGEPROJECTIONSPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

using Group = SmallVector<LinearOp>;
constexpr StringLiteral kName = "llmc-merge-projections";

bool meetsInActivation(LinearOp linear) {
  return llvm::any_of(linear->getUsers(), [](Operation *user) { return isa<ActivateOp>(user); });
}

/// Rows can be stacked of weights that lie as in the checkpoint.
bool isStackable(ModuleOp module, FlatSymbolRefAttr symbol) {
  auto weight = symbol ? module.lookupSymbol<WeightOp>(symbol.getValue()) : WeightOp();
  return !symbol ||
         (weight && weight.getSources() && weight.getType().getLayout().getPanelRows() == 0);
}

/// Linears of one input in a graph, in order, those of an MLP and those in regions left out.
SmallVector<Group> collect(ModuleOp module) {
  llvm::MapVector<std::pair<Value, Type>, Group> byInput; // and the format of the weight
  for (FunctionOpInterface graph : graph::graphsOf(module))
    for (auto linear : graph.getFunctionBody().front().getOps<LinearOp>())
      if (!meetsInActivation(linear) && isStackable(module, linear.getWeightAttr()) &&
          isStackable(module, linear.getBiasAttr()))
        byInput[{linear.getInput(), lookupWeight(linear, linear.getWeightAttr()).getType().getElementType()}]
            .push_back(linear);
  SmallVector<Group> groups;
  for (auto &[key, group] : byInput) {
    if (group.size() < 2)
      continue;
    size_t biased =
        llvm::count_if(group, [](LinearOp linear) { return bool(linear.getBiasAttr()); });
    if (biased == 0 || biased == group.size())
      groups.push_back(group);
    else
      remarkMissed(group.front(), kName, group.front().getWeight(),
                   "not merged: " + Twine(biased) + " of " + Twine(group.size()) +
                       " projections have a bias");
  }
  return groups;
}

/// "layers.0.q", "layers.0.k" -> "layers.0.qk"; with biases "layers.0.q_bias", ... ->
/// "layers.0.qk_bias".
std::string mergedName(ArrayRef<FlatSymbolRefAttr> parts) {
  StringRef first = parts.front().getValue();
  size_t dot = first.rfind('.');
  std::string name = dot == StringRef::npos ? "" : first.substr(0, dot + 1).str();
  bool bias = first.ends_with("_bias");
  for (FlatSymbolRefAttr part : parts) {
    StringRef last = part.getValue().substr(part.getValue().rfind('.') + 1);
    last.consume_back("_bias");
    name += last;
  }
  return bias ? name + "_bias" : name;
}

/// Declares the stacked weight, once for all graphs: another of that name is the same only if it
/// stacks the same tensors.
FlatSymbolRefAttr mergeWeights(ModuleOp module, ArrayRef<FlatSymbolRefAttr> parts) {
  int64_t rows = 0;
  SmallVector<Attribute> sources;
  WeightOp last;
  for (FlatSymbolRefAttr part : parts) {
    last = module.lookupSymbol<WeightOp>(part.getValue());
    rows += last.getType().getShape().front();
    llvm::append_range(sources, *last.getSources());
  }
  SmallVector<int64_t> shape(last.getType().getShape());
  shape.front() = rows;
  OpBuilder builder(last);
  auto type = WeightType::get(module.getContext(), shape, last.getType().getElementType());
  std::string name = mergedName(parts);
  while (Operation *other = module.lookupSymbol(name)) {
    auto known = dyn_cast<WeightOp>(other);
    if (known && known.getType() == type && known.getSourcesAttr() == builder.getArrayAttr(sources))
      return FlatSymbolRefAttr::get(known);
    name += "_";
  }
  builder.setInsertionPointAfter(last);
  WeightOp::create(builder, last.getLoc(), name, type, builder.getArrayAttr(sources),
                   RopeTableAttr());
  return FlatSymbolRefAttr::get(module.getContext(), name);
}

void merge(ModuleOp module, Group &group) {
  LinearOp first = group.front();
  OpBuilder builder(first);
  SmallVector<FlatSymbolRefAttr> weights, biases;
  SmallVector<Type> parts;
  SmallVector<Location> locations;
  int64_t width = 0;
  for (LinearOp linear : group) {
    weights.push_back(linear.getWeightAttr());
    if (linear.getBiasAttr())
      biases.push_back(linear.getBiasAttr());
    parts.push_back(linear.getResult().getType());
    locations.push_back(linear.getLoc());
    width += widthOf(linear.getResult().getType());
  }
  Location loc = FusedLoc::get(module.getContext(), locations);
  Type type = lineTensor(module.getContext(), width, lineOf(first.getInput().getType()));
  auto merged =
      LinearOp::create(builder, loc, type, first.getInput(), mergeWeights(module, weights),
                       biases.empty() ? FlatSymbolRefAttr() : mergeWeights(module, biases));
  auto split = SplitOp::create(builder, loc, parts, merged.getResult());
  remarkPassed(merged, kName, merged.getWeight(),
               "merged " + Twine(group.size()) + " projections of one input");
  for (auto [linear, part] : llvm::zip(group, split.getParts())) {
    linear.getResult().replaceAllUsesWith(part);
    linear.erase();
  }
}

/// Weights that only the linears before the merge named.
void eraseUnusedWeights(ModuleOp module) {
  llvm::StringSet<> used;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
        used.insert(symbol.getValue());
  });
  for (WeightOp weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (!used.contains(weight.getSymName()))
      weight.erase();
}

struct MergeProjectionsPass : llmc::impl::MergeProjectionsPassBase<MergeProjectionsPass> {
  void runOnOperation() override {
    SmallVector<Group> groups = collect(getOperation());
    for (Group &group : groups)
      merge(getOperation(), group);
    if (!groups.empty())
      eraseUnusedWeights(getOperation());
  }
};

} // namespace
