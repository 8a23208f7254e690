// SPDX-License-Identifier: Apache-2.0
//
// Rounds the rows that weights in groups multiply, as an op of its own: the products are integer
// from there on, and the reference rounds alike. One rounding serves all linears of a row.
#include "mlir/IR/Builders.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_QUANTIZEACTIVATIONSPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

/// The weight in groups that the op multiplies by, where its row is still in floats.
WeightOp groupsToMeet(Operation *op) {
  FlatSymbolRefAttr symbol = graph::multipliedBy(op);
  if (!symbol ||
      !cast<RankedTensorType>(op->getOperand(0).getType()).getElementType().isF32())
    return WeightOp();
  auto weight = lookupWeight(op, symbol);
  return weight && weight.getType().getGroups() ? weight : WeightOp();
}

struct QuantizeActivationsPass : llmc::impl::QuantizeActivationsPassBase<QuantizeActivationsPass> {
  void runOnOperation() override {
    for (FunctionOpInterface graph : graph::graphsOf(getOperation())) {
      llvm::DenseMap<Value, Value> rounded;
      for (Operation &op : graph.getFunctionBody().front()) {
        if (!groupsToMeet(&op))
          continue;
        Value row = op.getOperand(0);
        Value &quantized = rounded[row];
        if (!quantized) {
          OpBuilder builder(&op);
          auto type = quantizedTensor(&getContext(), widthOf(row.getType()), lineOf(row.getType()));
          quantized = QuantizeOp::create(builder, op.getLoc(), type, row);
        }
        op.setOperand(0, quantized);
      }
    }
  }
};

} // namespace
