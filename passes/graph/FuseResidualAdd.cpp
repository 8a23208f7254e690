// SPDX-License-Identifier: Apache-2.0
//
// Fuses a linear with the addition that follows it, so the product goes straight to the residual
// stream.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FUSERESIDUALADDPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-residual-add";

/// The linear's region that the addition can join; null when there is none, with the reason.
FusedOp linearBefore(FusedOp addition, AddOp add, std::string &reason) {
  for (Value operand : {add.getRhs(), add.getLhs()}) {
    FusedOp region = graph::producerOf(operand);
    if (!region || !graph::findIn<LinearOp>(region))
      continue;
    if (graph::soleUser(region) == addition)
      return region;
    reason = "the linear has a second user";
  }
  if (reason.empty())
    reason = "no operand comes from a linear";
  return FusedOp();
}

struct FuseResidualAddPass : llmc::impl::FuseResidualAddPassBase<FuseResidualAddPass> {
  void runOnOperation() override {
    SmallVector<FusedOp> additions;
    graph::forEach<AddOp>(getOperation(), [&](AddOp op) {
      auto region = op->getParentOfType<FusedOp>();
      if (region && !graph::findIn<LinearOp>(region))
        additions.push_back(region);
    });
    for (FusedOp addition : additions) {
      std::string reason;
      FusedOp linear = linearBefore(addition, graph::findIn<AddOp>(addition), reason);
      if (!linear) {
        remarkMissed(addition, kName, addition.getName(), "not fused: " + reason);
        continue;
      }
      std::string name = linear.getName().str();
      remarkPassed(graph::join(linear, addition, name), kName, name,
                   "adds to the residual stream as it is stored");
    }
  }
};

} // namespace
