// SPDX-License-Identifier: Apache-2.0
//
// What is true at the end of each stage. A failure here is a fault of a pass (or of a hand-edited
// module), and says which promise was broken, where.
#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Target.h"
#include "passes/contract/Passes.h"
#include "passes/graph/Regions.h"

namespace llmc {
#define GEN_PASS_DEF_VERIFYCONTRACTPASS
#include "ContractPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

namespace {

LogicalResult eachOp(ModuleOp module, StringRef stage, function_ref<bool(Operation &)> allowed,
                     StringRef promise) {
  for (FunctionOpInterface graph : graph::graphsOf(module))
    for (Operation &op : graph.getFunctionBody().front().without_terminator())
      if (!allowed(op))
        return op.emitError() << "contract of stage " << stage << ": " << promise << ", found '"
                              << op.getName() << "'";
  return success();
}

/// What every pass relies on.
LogicalResult verifyGraphs(ModuleOp module, StringRef stage) {
  for (FunctionOpInterface graph : graph::graphsOf(module)) {
    auto name = graph->getAttrOfType<StringAttr>(llm::kGraphAttrName);
    if (!name || !llvm::is_contained({"prefill", "decode", "verify"}, name.getValue()))
      return graph->emitError() << "contract of stage " << stage
                                << ": a graph is prefill, decode or verify, found "
                                << graph->getAttr(llm::kGraphAttrName);
    if (!graph.getFunctionBody().hasOneBlock())
      return graph->emitError() << "contract of stage " << stage
                                << ": a graph has one block, found "
                                << graph.getFunctionBody().getBlocks().size();
  }
  return success();
}

LogicalResult verifyImport(ModuleOp module) {
  return eachOp(
      module, "import", [](Operation &op) { return isa<llm::LLMDialect>(op.getDialect()); },
      "graphs hold llm ops only");
}

LogicalResult verifyGraph(ModuleOp module) {
  if (failed(eachOp(
          module, "graph", [](Operation &op) { return isa<llm::FusedOp>(op); },
          "every op of a graph is in a fused region")))
    return failure();
  WalkResult walked = module.walk([](llm::MLPOp op) {
    op.emitError() << "contract of stage graph: every MLP is split";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// Sums of one kind must have one tree in every graph, or prefill and decode would differ in a bit.
class TreeCheck {
public:
  LogicalResult check(llm::FusedOp region) {
    llm::ScheduleAttr schedule = region.getScheduleAttr();
    if (graph::findIn<llm::RMSNormOp>(region) && kindOf(region) != KernelKind::RopeAppend &&
        failed(agree("rms_norm", "lanes", schedule.getLanes(), region)))
      return failure();
    if (auto attention = graph::findIn<llm::AttentionOp>(region))
      return agree("attention " + region.getName().str(), "k_split", schedule.getKSplit(), region);
    if (kindOf(region) == KernelKind::Linear)
      return agree("linear " + weightOf(region), "k_split", schedule.getKSplit(), region);
    return success();
  }

private:
  static std::string weightOf(llm::FusedOp region) {
    if (auto linear = graph::findIn<llm::LinearOp>(region))
      return linear.getWeight().str();
    return graph::findIn<llm::LMHeadOp>(region).getWeight().str();
  }

  LogicalResult agree(std::string subject, StringRef field, int64_t value, llm::FusedOp region) {
    auto [entry, fresh] =
        seen.try_emplace(subject + "/" + field.str(), std::make_pair(value, region));
    auto &[first, where] = entry->second;
    if (fresh || first == value)
      return success();
    auto diagnostic = region.emitError()
                      << "contract of stage schedule: " << field << " of " << subject
                      << " fixes a reduction tree and is the same everywhere, found " << value
                      << ", expected " << first;
    diagnostic.attachNote(where.getLoc()) << "first scheduled here";
    return diagnostic;
  }

  llvm::StringMap<std::pair<int64_t, llm::FusedOp>> seen;
};

LogicalResult verifySchedule(ModuleOp module) {
  TreeCheck trees;
  WalkResult walked = module.walk([&](llm::FusedOp region) {
    if (!region.getScheduleAttr()) {
      region.emitError() << "contract of stage schedule: every fused region has a schedule";
      return WalkResult::interrupt();
    }
    return failed(trees.check(region)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult noLLMOps(ModuleOp module, StringRef stage, bool symbolsToo) {
  WalkResult walked = module.walk([&](Operation *op) {
    if (!isa<llm::LLMDialect>(op->getDialect()) ||
        (!symbolsToo && isa<llm::WeightOp, llm::CacheOp>(op)))
      return WalkResult::advance();
    op->emitError() << "contract of stage " << stage << ": no llm op is left, found '"
                    << op->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult verifyTile(ModuleOp module) {
  auto allowed = [](Operation &op) {
    return isa<tile::LaunchOp, tile::WeightOp, tile::CacheOp>(op);
  };
  return failure(failed(noLLMOps(module, "tile", false)) ||
                 failed(eachOp(module, "tile", allowed, "graphs are launches")));
}

LogicalResult verifyLaunch(tile::LaunchOp launch, int64_t number) {
  for (Value operand : launch.getOperands_())
    if (!operand.getDefiningOp<tile::SliceOp>() && !operand.getDefiningOp<tile::WeightOp>() &&
        !operand.getDefiningOp<tile::CacheOp>())
      return launch.emitError() << "contract of stage memory: every operand is an arena slice, a "
                                   "packed weight or a cache";
  if (!launch.getResults().empty())
    return launch.emitError() << "contract of stage memory: launches write to places, found "
                              << launch.getNumResults() << " results";
  auto dependency = launch.getDependency();
  if (!dependency || int64_t(*dependency) < -1 || int64_t(*dependency) >= number)
    return launch.emitError() << "contract of stage memory: the dependency of launch " << number
                              << " is -1 to " << number - 1 << ", found "
                              << (dependency ? std::to_string(int64_t(*dependency)) : "none");
  return success();
}

LogicalResult verifyMemory(ModuleOp module) {
  auto allowed = [](Operation &op) {
    return isa<tile::LaunchOp, tile::WeightOp, tile::CacheOp, tile::SliceOp, tile::ResultOp>(op);
  };
  if (failed(noLLMOps(module, "memory", true)) ||
      failed(eachOp(module, "memory", allowed, "graphs are places and launches")))
    return failure();
  for (FunctionOpInterface graph : graph::graphsOf(module)) {
    int64_t number = 0;
    for (auto launch : graph.getFunctionBody().front().getOps<tile::LaunchOp>())
      if (failed(verifyLaunch(launch, number++)))
        return failure();
  }
  return success();
}

LogicalResult verifyKernel(ModuleOp module) {
  for (auto kernel : module.getOps<tile::KernelOp>())
    return kernel.emitError()
           << "contract of stage kernel: every kernel is a function of the target";
  return success();
}

struct VerifyContractPass : llmc::impl::VerifyContractPassBase<VerifyContractPass> {
  using VerifyContractPassBase::VerifyContractPassBase;

  void runOnOperation() override {
    using Check = LogicalResult (*)(ModuleOp);
    const std::pair<StringRef, Check> checks[] = {
        {"import", verifyImport}, {"graph", verifyGraph},   {"schedule", verifySchedule},
        {"tile", verifyTile},     {"memory", verifyMemory}, {"kernel", verifyKernel}};
    for (auto [name, check] : checks)
      if (name == stage) {
        if (failed(verifyGraphs(getOperation(), stage)) || failed(check(getOperation())))
          signalPassFailure();
        return;
      }
    getOperation().emitError() << "unknown stage '" << stage
                               << "', expected import, graph, schedule, tile, memory or kernel";
    signalPassFailure();
  }
};

} // namespace
