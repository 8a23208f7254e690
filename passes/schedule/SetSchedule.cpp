// SPDX-License-Identifier: Apache-2.0
//
// Writes a schedule on every fused region: the target's, with the user's fields in place of its own.
#include "passes/Remarks.h"
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
    WalkResult walked = getOperation().walk([&](FusedOp region) { return decide(region, *chosen, forced); });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (const ForcedField &field : forced)
      if (!field.used) {
        getOperation().emitError() << "schedule '" << field.text << "' matches no region; kinds are row_wise, linear, "
                                   << "rope_append, attention, verify";
        return signalPassFailure();
      }
  }

  WalkResult decide(FusedOp region, const Target &target, ArrayRef<ForcedField> forced) {
    ScheduleAttr schedule = region.getScheduleAttr();
    std::string reason = "set by hand";
    KernelKind kind = kindOf(region);
    if (!schedule)
      schedule = target.schedule(region, kind, reason);
    schedule = applyForced(region, schedule, forced);
    if (!schedule)
      return WalkResult::interrupt();
    region.setScheduleAttr(schedule);
    remarkAnalysis(region, kName, region.getName(), Twine(stringify(kind)) + ": " + reason);
    return WalkResult::advance();
  }
};

} // namespace
