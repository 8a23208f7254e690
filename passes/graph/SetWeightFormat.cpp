// SPDX-License-Identifier: Apache-2.0
//
// Decides the format that each weight matrix is kept in. Only types change here: the packer and the
// reference round the stored values when they read them, and say what it cost.
#include "dialects/llm/WeightFormat.h"
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_SETWEIGHTFORMATPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-set-weight-format";

/// Matrices that give tokens their meaning, on the way in or out: too sensitive for 4 bits.
llvm::DenseSet<Attribute> vocabularyMatrices(ModuleOp module) {
  llvm::DenseSet<Attribute> symbols;
  module.walk([&](Operation *op) {
    if (auto embed = dyn_cast<EmbedOp>(op))
      symbols.insert(embed.getTableAttr());
    else if (auto head = dyn_cast<LMHeadOp>(op))
      symbols.insert(head.getWeightAttr());
  });
  return symbols;
}

struct SetWeightFormatPass : llmc::impl::SetWeightFormatPassBase<SetWeightFormatPass> {
  using SetWeightFormatPassBase::SetWeightFormatPassBase;

  void runOnOperation() override {
    if (format == "keep")
      return;
    MLIRContext *context = &getContext();
    Type wanted = llvm::StringSwitch<Type>(format)
                      .Case("f32", Float32Type::get(context))
                      .Case("bf16", BFloat16Type::get(context))
                      .Case("int8", GroupType::get(context, 8, false))
                      .Case("int4", GroupType::get(context, 4, false))
                      .Default(Type());
    if (!wanted) {
      getOperation().emitError() << "unknown weight format '" << format
                                 << "', expected keep, f32, bf16, int8 or int4";
      return signalPassFailure();
    }
    llvm::DenseSet<Attribute> vocabulary = vocabularyMatrices(getOperation());
    for (auto weight : getOperation().getOps<WeightOp>())
      if (weight.getSources() && weight.getType().getShape().size() == 2 &&
          !weight.getType().getLayout().getPanelRows())
        set(weight, vocabulary.contains(FlatSymbolRefAttr::get(weight))
                        ? formatOfVocabulary(wanted)
                        : wanted);
  }

  static Type formatOfVocabulary(Type wanted) {
    auto groups = dyn_cast<GroupType>(wanted);
    return groups ? GroupType::get(wanted.getContext(), 8, false) : wanted;
  }

  void set(WeightOp weight, Type wanted) {
    WeightType type = weight.getType();
    if (isa<GroupType>(wanted) && type.getColumns() % GroupType::kGroup)
      return remarkMissed(weight, kName, weight.getSymName(),
                          "kept as " + model::name(formatOf(type.getElementType())) + ": " +
                              std::to_string(type.getColumns()) +
                              " columns are no multiple of a group of 32");
    if (type.getElementType() == wanted)
      return;
    remarkPassed(weight, kName, weight.getSymName(),
                 model::name(formatOf(type.getElementType())) + " becomes " +
                     model::name(formatOf(wanted)));
    weight.setType(WeightType::get(&getContext(), type.getShape(), wanted, type.getLayout()));
  }
};

} // namespace
