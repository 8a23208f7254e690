// SPDX-License-Identifier: Apache-2.0
//
// Wraps every op of a graph in a fused region of its own; the fusion passes then join regions. Ops
// that move no data are copied into each region that uses them.
#include "mlir/IR/Builders.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FORMREGIONSPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

void wrap(Operation *op) {
  OpBuilder builder(op);
  auto region = FusedOp::create(builder, op->getLoc(), op->getResultTypes(),
                                builder.getStringAttr(graph::nameOf(op)), ScheduleAttr());
  Block *body = builder.createBlock(&region.getBody());
  op->replaceAllUsesWith(region.getResults());
  op->moveBefore(body, body->end());
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, op->getLoc(), op->getResults());
}

/// Whether each region that uses the op may have its own copy: the op is free, and nothing but ops
/// of the model use it.
bool isCopied(Operation *op) {
  auto inRegion = [](Operation *user) { return isa<LLMDialect>(user->getDialect()); };
  return graph::isFree(op) && llvm::all_of(op->getUsers(), inRegion);
}

/// Gives every region that uses the free op a copy, and erases it.
void copyIntoUsers(Operation *op) {
  llvm::SmallDenseMap<Operation *, Operation *> copies;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    auto region = use.getOwner()->getParentOfType<FusedOp>();
    Operation *&copy = copies[region];
    if (!copy) {
      OpBuilder builder(&region.getBody().front(), region.getBody().front().begin());
      copy = builder.clone(*op);
    }
    use.set(copy->getResult(cast<OpResult>(use.get()).getResultNumber()));
  }
  op->erase();
}

struct FormRegionsPass : llmc::impl::FormRegionsPassBase<FormRegionsPass> {
  void runOnOperation() override {
    for (FunctionOpInterface function : graph::graphsOf(getOperation())) {
      SmallVector<Operation *> model, free;
      for (Operation &op : function.getFunctionBody().front())
        if (isa<LLMDialect>(op.getDialect()) && !isa<FusedOp>(op))
          (isCopied(&op) ? free : model).push_back(&op);
      for (Operation *op : model)
        wrap(op);
      for (Operation *op : llvm::reverse(free))
        copyIntoUsers(op);
    }
  }
};

} // namespace
