// SPDX-License-Identifier: Apache-2.0
//
// Rounds a row where it is made: the norm before a projection, the activated product before the
// last one. Only regions whose programs have whole groups at hand: row-wise ones, and linears whose
// panels are groups.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"
#include "llvm/Support/FormatVariadic.h"

namespace llmc {
#define GEN_PASS_DEF_FUSEQUANTIZEPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-quantize";

bool normalisesHeads(FusedOp region) {
  return llvm::any_of(region.getBody().front().getOps<RMSNormOp>(),
                      [](RMSNormOp norm) { return norm.getGroups() != 1; });
}

struct FuseQuantizePass : llmc::impl::FuseQuantizePassBase<FuseQuantizePass> {
  using FuseQuantizePassBase::FuseQuantizePassBase;

  void runOnOperation() override {
    SmallVector<FusedOp> roundings;
    graph::forEach<QuantizeOp>(getOperation(), [&](QuantizeOp op) {
      auto region = op->getParentOfType<FusedOp>();
      if (region && graph::holdsOnly<QuantizeOp>(region))
        roundings.push_back(region);
    });
    for (FusedOp rounding : roundings) {
      std::string reason;
      FusedOp maker = makerOf(rounding, reason);
      if (!maker) {
        remarkMissed(rounding, kName, rounding.getName(), "not fused: " + reason);
        continue;
      }
      std::string name = maker.getName().str();
      remarkPassed(graph::join(maker, rounding, name), kName, name,
                   "the row leaves as integers: a quarter of its bytes, and one command less");
    }
  }

  /// The region that makes the row, if the rounding can join it; else null and the reason.
  FusedOp makerOf(FusedOp rounding, std::string &reason) const {
    Value row = graph::findIn<QuantizeOp>(rounding).getInput();
    FusedOp maker = graph::producerOf(row);
    bool ofLinear = maker && graph::findIn<LinearOp>(maker);
    if (!maker)
      reason = "its row is no region's";
    else if (graph::soleUser(maker) != rounding)
      reason = "the row has a second user";
    else if (!graph::holdsOnly<LinearOp, RMSNormOp, GatherRowsOp, ActivateOp, AddOp, SplitOp, AttentionMergeOp>(maker) || normalisesHeads(maker))
      reason = "its row is made by neither a row-wise region nor a linear";
    else if (ofLinear && panelRows != GroupType::kGroup)
      reason = llvm::formatv("a panel of {0} columns is no group of {1}", panelRows.getValue(), GroupType::kGroup);
    else if (auto merge = graph::findIn<AttentionMergeOp>(maker); merge && merge.getPartialRow().value % GroupType::kGroup)
      reason = llvm::formatv("a head of {0} columns is no whole number of groups", merge.getPartialRow().value);
    else
      return maker;
    return FusedOp();
  }
};

} // namespace
