// SPDX-License-Identifier: Apache-2.0
//
// Fuses an `llm.rms_norm` into the linear that consumes it, so the normalised row never reaches
// memory. Every program of the linear then normalises the row again: it pays where a command and
// its traffic cost more than that (few rows), and never where the linear is bound by arithmetic.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FUSENORMINTOLINEARPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-norm-into-linear";

/// Rows that a step of this graph is planned for.
int64_t plannedRows(Operation *op) {
  StringRef name = graph::graphNameOf(op);
  if (name == "decode")
    return 1;
  return name == "verify" ? 4 : 256;
}

struct Decision {
  bool pays;
  std::string reason;
};

/// Repeating the norm costs 4 FLOPs an element in each panel's program, against 2 * panelRows for
/// the dot products. The share is hidden under the weight traffic while a step has few rows; from
/// the ridge on it is time.
Decision decide(FusedOp norm, FusedOp linear, int64_t panelRows) {
  StepShape shape;
  shape.rows = plannedRows(norm);
  OpCost cost = linear.getCost(shape);
  double repeated = 4.0 / (2.0 * double(panelRows));
  constexpr double kMemoryBoundIntensity =
      4; // FLOPs a byte below which any known target waits for memory
  std::string figures = llvm::formatv("at {0} rows the linear has {1:f1} FLOPs a byte, the "
                                      "repeated norm adds {2:f0} % arithmetic",
                                      shape.rows, cost.intensity(), 100 * repeated)
                            .str();
  return {cost.intensity() < kMemoryBoundIntensity, figures};
}

/// The region that alone uses the norm, if it is a linear's.
FusedOp consumerOf(FusedOp norm, std::string &reason) {
  FusedOp user = graph::soleUser(norm);
  if (!user)
    reason = "the norm has two users or leaves the graph";
  else if (!graph::findIn<LinearOp>(user) && !graph::findIn<LMHeadOp>(user))
    reason = "its user is no linear";
  else if (graph::findIn<GatherRowsOp>(norm))
    reason = "the norm gathers rows, and a program of the head would gather again";
  else if (!llvm::all_of(norm->getUsers(),
                         [](Operation *op) { return isa<LinearOp, LMHeadOp>(op); }))
    reason = "the linear's region also uses the norm after the product";
  else
    return user;
  return FusedOp();
}

struct FuseNormIntoLinearPass : llmc::impl::FuseNormIntoLinearPassBase<FuseNormIntoLinearPass> {
  using FuseNormIntoLinearPassBase::FuseNormIntoLinearPassBase;

  void runOnOperation() override {
    SmallVector<FusedOp> norms;
    graph::forEach<RMSNormOp>(getOperation(), [&](RMSNormOp op) {
      auto region = op->getParentOfType<FusedOp>();
      if (region && op.getGroups() == 1 && graph::holdsOnly<RMSNormOp, GatherRowsOp>(region))
        norms.push_back(region);
    });
    for (FusedOp norm : norms)
      fuse(norm);
  }

  void fuse(FusedOp norm) {
    std::string reason, name = norm.getName().str();
    FusedOp linear = consumerOf(norm, reason);
    if (!linear)
      return remarkMissed(norm, kName, name, "not fused: " + reason);
    Decision decision = decide(norm, linear, panelRows);
    if (pays == "never" || (pays == "cost" && !decision.pays))
      return remarkMissed(norm, kName, name,
                          "not fused: " +
                              (pays == "never" ? std::string("forbidden") : decision.reason));
    name = linear.getName().str();
    remarkPassed(graph::join(norm, linear, name), kName, name,
                 "norm inside the linear: " + decision.reason);
  }
};

} // namespace
