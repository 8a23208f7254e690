// SPDX-License-Identifier: Apache-2.0
//
// Fuses gate, up and the activation of their product. Only when the activation is the sole user of
// both: a second user would need them in memory anyway.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FUSEGATEUPPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-gate-up";

/// The region of the lone linear whose value the activation reads, if it can be fused; else null
/// and the reason.
FusedOp linearBehind(Value value, FusedOp activation, std::string &reason) {
  FusedOp region = graph::producerOf(value);
  if (!region || !graph::findIn<LinearOp>(region) || !graph::holdsOnly<LinearOp>(region))
    reason = "an operand does not come from a linear";
  else if (graph::soleUser(region) != activation)
    reason = "a projection has a second user";
  else
    return region;
  return FusedOp();
}

Type formatOf(FusedOp projection) {
  auto linear = graph::findIn<LinearOp>(projection);
  return lookupWeight(linear, linear.getWeightAttr()).getType().getElementType();
}

void fuse(FusedOp activation) {
  auto activate = graph::findIn<ActivateOp>(activation);
  std::string reason;
  FusedOp gate = linearBehind(activate.getGate(), activation, reason),
          up = linearBehind(activate.getUp(), activation, reason);
  if (gate && up &&
      graph::findIn<LinearOp>(gate).getInput() != graph::findIn<LinearOp>(up).getInput()) {
    gate = FusedOp();
    reason = "gate and up read different rows";
  }
  if (gate && up && formatOf(gate) != formatOf(up)) {
    gate = FusedOp();
    reason = "gate and up are kept in different formats";
  }
  if (!gate || !up)
    return remarkMissed(activation, kName, activation.getName(), "not fused: " + reason);
  StringRef gateName = gate.getName(), upName = up.getName();
  std::string name = (gateName + "_" + upName.substr(upName.rfind('.') + 1)).str();
  FusedOp joined = graph::join(up, activation, name);
  if (gate != up)
    joined = graph::join(gate, joined, name);
  remarkPassed(joined, kName, name,
               "gate, up and their product in one region: two hidden rows never reach memory");
}

struct FuseGateUpPass : llmc::impl::FuseGateUpPassBase<FuseGateUpPass> {
  void runOnOperation() override {
    SmallVector<FusedOp> activations;
    graph::forEach<ActivateOp>(getOperation(), [&](ActivateOp op) {
      auto region = op->getParentOfType<FusedOp>();
      if (region && !graph::findIn<LinearOp>(region))
        activations.push_back(region);
    });
    for (FusedOp region : activations)
      fuse(region);
  }
};

} // namespace
