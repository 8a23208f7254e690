// SPDX-License-Identifier: Apache-2.0
//
// Reads the wanted rows where they are normalised. Only when the norm is the gather's sole user.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FUSEGATHERINTONORMPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-gather-into-norm";

/// A norm by itself, over whole rows (not head by head).
bool isPlainNorm(FusedOp region) {
  auto norm = graph::findIn<RMSNormOp>(region);
  return norm && norm.getGroups() == 1 && graph::holdsOnly<RMSNormOp>(region);
}

struct FuseGatherIntoNormPass : llmc::impl::FuseGatherIntoNormPassBase<FuseGatherIntoNormPass> {
  void runOnOperation() override {
    SmallVector<FusedOp> gathers;
    graph::forEach<GatherRowsOp>(getOperation(), [&](GatherRowsOp op) {
      auto region = op->getParentOfType<FusedOp>();
      if (region && !graph::findIn<RMSNormOp>(region))
        gathers.push_back(region);
    });
    for (FusedOp gather : gathers) {
      FusedOp user = graph::soleUser(gather);
      if (!user || !isPlainNorm(user)) {
        remarkMissed(gather, kName, gather.getName(),
                     user ? "not fused: its user is no norm of rows" : "not fused: several users");
        continue;
      }
      std::string name = user.getName().str();
      remarkPassed(graph::join(gather, user, name), kName, name, "normalises only the wanted rows");
    }
  }
};

} // namespace
