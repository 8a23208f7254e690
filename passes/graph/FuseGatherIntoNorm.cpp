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

struct FuseGatherIntoNormPass : llmc::impl::FuseGatherIntoNormPassBase<FuseGatherIntoNormPass> {
  void runOnOperation() override {
    SmallVector<FusedOp> gathers;
    getOperation().walk([&](GatherRowsOp op) {
      auto region = op->getParentOfType<FusedOp>();
      if (region && !graph::findIn<RMSNormOp>(region))
        gathers.push_back(region);
    });
    for (FusedOp gather : gathers) {
      FusedOp user = graph::soleUser(gather);
      if (!user || !graph::findIn<RMSNormOp>(user)) {
        remarkMissed(gather, kName, gather.getName(), user ? "not fused: its user is no norm" : "not fused: several users");
        continue;
      }
      std::string name = user.getName().str();
      remarkPassed(graph::join(gather, user, name), kName, name, "normalises only the wanted rows");
    }
  }
};

} // namespace
