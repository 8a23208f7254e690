// SPDX-License-Identifier: Apache-2.0
//
// Fuses what happens head by head between the projections and attention: q/k norms, rotations, the
// append to the cache.
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_FUSEROPEAPPENDPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-fuse-rope-append";

/// Heads that `op` divides its rows into; 0: it works on whole rows.
int64_t headsOf(Operation *op) {
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return norm.getGroups();
  if (auto rope = dyn_cast<RopeOp>(op))
    return rope.getHeads();
  if (auto append = dyn_cast<KVAppendOp>(op))
    return append.getResult().getType().getHeads();
  return 0;
}

/// A norm of heads or a rotation, alone or joined before. Who reads it must divide the row alike: a
/// rotation of several heads after a norm of the whole row, say, needs the row complete. With one
/// head the norm of a head has one group, and only a reader that works on heads tells it from a
/// norm of the row.
bool isHeadwise(FusedOp region) {
  Operation *last = region.getBody().front().getTerminator()->getPrevNode();
  if (!last || !isa<RMSNormOp, RopeOp, KVAppendOp>(last))
    return false;
  int64_t heads = headsOf(last), readers = 0;
  if (isa<RMSNormOp, RopeOp>(last))
    for (Operation *user : region->getUsers()) {
      int64_t theirs = headsOf(user);
      readers += theirs > 0;
      if (theirs > 0 && theirs != heads)
        return false;
    }
  return heads > 1 || readers > 0 || isa<RopeOp>(last);
}

/// The rows that head-wise regions above `region` read: q and k come from one row when the
/// projections were merged.
Value rowBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto region = dyn_cast<FusedOp>(op); region && isHeadwise(region))
      value = region.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
    else if (isa<RopeOp, RMSNormOp, SplitOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
}

/// Joins every head-wise region that works on the append's row and comes before it, nearest first.
FusedOp absorb(FusedOp region) {
  Value row = rowBehind(graph::findIn<KVAppendOp>(region).getKey());
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op = region->getPrevNode(); op; op = op->getPrevNode()) {
      auto candidate = dyn_cast<FusedOp>(op);
      if (!candidate || candidate.getNumResults() == 0 || !isHeadwise(candidate) ||
          !graph::canJoin(candidate, region) || rowBehind(candidate->getResult(0)) != row)
        continue;
      region = graph::join(candidate, region, region.getName().str());
      changed = true;
      break;
    }
  }
  return region;
}

struct FuseRopeAppendPass : llmc::impl::FuseRopeAppendPassBase<FuseRopeAppendPass> {
  void runOnOperation() override {
    SmallVector<FusedOp> appends;
    graph::forEach<KVAppendOp>(getOperation(), [&](KVAppendOp op) {
      if (auto region = op->getParentOfType<FusedOp>())
        appends.push_back(region);
    });
    for (FusedOp append : appends) {
      size_t before = append.getBody().front().getOperations().size();
      FusedOp joined = absorb(append);
      if (joined.getBody().front().getOperations().size() > before)
        remarkPassed(joined, kName, joined.getName(),
                     "norms, rotations and the append read one row, head by head");
      else
        remarkMissed(joined, kName, joined.getName(),
                     "not fused: no head-wise region before it reads the same row");
    }
  }
};

} // namespace
