// SPDX-License-Identifier: Apache-2.0
//
// Takes an `llm.mlp` apart into two projections, their activation and a third projection: the
// hidden row must be complete before the last, so one kernel could not compute it in one sweep.
#include "mlir/IR/Builders.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_SPLITMLPPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

void splitMLP(MLPOp mlp) {
  OpBuilder builder(mlp);
  Location loc = mlp.getLoc();
  Line line = lineOf(mlp.getInput().getType());
  int64_t hidden = lookupWeight(mlp, mlp.getGateAttr()).getType().getRows();
  Type wide = lineTensor(builder.getContext(), hidden, line);
  Value gate = LinearOp::create(builder, loc, wide, mlp.getInput(), mlp.getGateAttr(),
                                mlp.getGateBiasAttr());
  Value up =
      LinearOp::create(builder, loc, wide, mlp.getInput(), mlp.getUpAttr(), mlp.getUpBiasAttr());
  Value product = ActivateOp::create(builder, loc, wide, mlp.getActivationAttr(), gate, up);
  Value down = LinearOp::create(builder, loc, mlp.getResult().getType(), product, mlp.getDownAttr(),
                                mlp.getDownBiasAttr());
  mlp.getResult().replaceAllUsesWith(down);
  mlp.erase();
}

struct SplitMLPPass : llmc::impl::SplitMLPPassBase<SplitMLPPass> {
  void runOnOperation() override {
    SmallVector<MLPOp> found;
    graph::forEach<MLPOp>(getOperation(), [&](MLPOp mlp) { found.push_back(mlp); });
    for (MLPOp mlp : found)
      splitMLP(mlp);
  }
};

} // namespace
