// SPDX-License-Identifier: Apache-2.0
//
// Rounds a row where it is made: the norm before a projection, the activated product before the
// last one. Only row-wise regions, whose programs have whole groups at hand.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FUSEQUANTIZEPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-quantize";

/// The region that makes the row, if the rounding can join it; else null and the reason.
FusedOp makerOf(FusedOp rounding, std::string &reason) {
  Value row = graph::findIn<QuantizeOp>(rounding).getInput();
  FusedOp maker = graph::producerOf(row);
  if (!maker)
    reason = "its row is no region's";
  else if (graph::soleUser(maker) != rounding)
    reason = "the row has a second user";
  else if (!graph::holdsOnly<RMSNormOp, GatherRowsOp, ActivateOp, AddOp, SplitOp>(maker) ||
           llvm::any_of(maker.getBody().front().getOps<RMSNormOp>(),
                        [](RMSNormOp norm) { return norm.getGroups() != 1; }))
    reason = "its row is made by no row-wise region";
  else
    return maker;
  return FusedOp();
}

struct FuseQuantizePass : llmc::impl::FuseQuantizePassBase<FuseQuantizePass> {
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
};

} // namespace
