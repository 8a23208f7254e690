// SPDX-License-Identifier: Apache-2.0
//
// Writes a schedule on every fused region: the target's, with the user's fields in place of its
// own.
#include "passes/Remarks.h"
#include "passes/graph/Regions.h"
#include "passes/schedule/ForcedSchedule.h"
#include "passes/schedule/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_SETSCHEDULEPASS
#include "SchedulePasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-set-schedule";

struct SetSchedulePass : llmc::impl::SetSchedulePassBase<SetSchedulePass> {
  using SetSchedulePassBase::SetSchedulePassBase;

  void runOnOperation() override {
    std::string error;
    std::unique_ptr<Target> chosen = createTarget(target, error);
    SmallVector<ForcedField> forced;
    if (!chosen || !parseForced(force, forced, error)) {
      getOperation().emitError() << error;
      return signalPassFailure();
    }
    for (FunctionOpInterface graph : graph::graphsOf(getOperation()))
      if (graph->walk([&](FusedOp region) { return decide(region, *chosen, forced); })
              .wasInterrupted())
        return signalPassFailure();
    for (const ForcedField &field : forced)
      if (!field.used) {
        getOperation().emitError()
            << "schedule '" << field.text << "' matches no region; kinds are row_wise, linear, "
            << "rope_append, attention, verify";
        return signalPassFailure();
      }
  }

  WalkResult decide(FusedOp region, const Target &target, ArrayRef<ForcedField> forced) {
    if (region.getNumResults() == 0 ||
        !isa<RankedTensorType, KVCacheType>(region.getResult(0).getType())) {
      region.emitError() << "expects fused region \"" << region.getName()
                         << "\" to yield a tensor or a cache first";
      return WalkResult::interrupt();
    }
    ScheduleAttr schedule = region.getScheduleAttr();
    std::string reason = "set before";
    KernelKind kind = kindOf(region);
    if (!schedule)
      schedule = target.schedule(region, kind, reason);
    ScheduleAttr obeyed = applyForced(region, schedule, forced);
    if (!obeyed)
      return WalkResult::interrupt();
    region.setScheduleAttr(obeyed);
    remarkAnalysis(region, kName, region.getName(),
                   Twine(stringify(kind)) + ": " + reason +
                       (obeyed == schedule ? "" : ", fields forced by the user"));
    return WalkResult::advance();
  }
};

} // namespace
