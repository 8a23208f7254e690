// SPDX-License-Identifier: Apache-2.0
//
// Gives every weight the packed layout that its kernels read: panels for linears, rows for
// embeddings, norms, biases, tables. A tied head is declared twice, each in its own layout; one in
// groups once, since an embedding reads groups from panels too.
#include "mlir/IR/Builders.h"
#include "passes/graph/Regions.h"
#include "passes/tile/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "TilePasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

void setMultiplied(Operation *op, FlatSymbolRefAttr symbol) {
  if (auto linear = dyn_cast<LinearOp>(op))
    linear.setWeightAttr(symbol);
  else
    cast<LMHeadOp>(op).setWeightAttr(symbol);
}

struct PackWeightsPass : llmc::impl::PackWeightsPassBase<PackWeightsPass> {
  using PackWeightsPassBase::PackWeightsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto layout = LayoutAttr::getChecked([&] { return module.emitError(); }, &getContext(),
                                         int64_t(panelRows));
    if (!layout)
      return signalPassFailure();
    llvm::MapVector<Attribute, SmallVector<Operation *>> byWeight;
    llvm::DenseSet<Attribute> readByRows;
    SmallVector<EmbedOp> embeds;
    module.walk([&](Operation *op) {
      if (FlatSymbolRefAttr symbol = graph::multipliedBy(op))
        byWeight[symbol].push_back(op);
      else if (auto embed = dyn_cast<EmbedOp>(op))
        embeds.push_back(embed);
      else if (auto rope = dyn_cast<RopeOp>(op))
        readByRows.insert(rope.getTableAttr());
    });
    for (EmbedOp embed : embeds) {
      auto weight = module.lookupSymbol<WeightOp>(embed.getTable());
      if (weight.getType().getGroups())
        byWeight[embed.getTableAttr()];
      else
        readByRows.insert(embed.getTableAttr());
    }
    for (auto &[symbol, users] : byWeight)
      if (failed(pack(module, cast<FlatSymbolRefAttr>(symbol), users, layout,
                      readByRows.contains(symbol))))
        return signalPassFailure();
  }

  LogicalResult pack(ModuleOp module, FlatSymbolRefAttr symbol, ArrayRef<Operation *> users,
                     LayoutAttr layout, bool shared) {
    auto weight = module.lookupSymbol<WeightOp>(symbol.getValue());
    if (weight.getType().getLayout().getPanelRows())
      return success();
    if (!weight.getSources()) {
      auto diagnostic = (users.empty() ? weight.getOperation() : users.front())->emitError()
                        << "expects weight " << symbol
                        << " to come from a checkpoint, found a computed one";
      diagnostic.attachNote(weight.getLoc()) << "the weight is declared here";
      return diagnostic;
    }
    auto packed = WeightType::get(&getContext(), weight.getType().getShape(),
                                  weight.getType().getElementType(), layout);
    if (!shared) {
      weight.setType(packed);
      return success();
    }
    OpBuilder builder(weight);
    builder.setInsertionPointAfter(weight);
    std::string name = (symbol.getValue() + ".panels").str();
    while (module.lookupSymbol(name))
      name += "_";
    WeightOp::create(builder, weight.getLoc(), name, packed, *weight.getSources(), RopeTableAttr());
    for (Operation *user : users)
      setMultiplied(user, FlatSymbolRefAttr::get(&getContext(), name));
    return success();
  }
};

} // namespace
