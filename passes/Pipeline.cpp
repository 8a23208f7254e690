// SPDX-License-Identifier: Apache-2.0
//
// The road as one table. A stage is an idea and its passes; comments say why one must come before
// another.
#include "passes/Pipeline.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Target.h"
#include "passes/contract/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/schedule/Passes.h"
#include "passes/tile/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmc;

namespace {

void buildGraph(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createSetWeightFormatPass({options.quant})); // first: merging and fusing look at formats
  passes.addPass(createSetKVLayoutPass({options.kvLayout, options.kv}));
  passes.addPass(createSplitAttentionPass());
  passes.addPass(createSplitMLPPass());
  passes.addPass(createMergeProjectionsPass()); // before regions: merging looks at plain linears
  passes.addPass(createQuantizeActivationsPass()); // after merging: one rounding for q, k and v
  passes.addPass(createFormRegionsPass());
  passes.addPass(createFuseGateUpPass());
  passes.addPass(createFuseResidualAddPass());
  passes.addPass(createFuseRopeAppendPass());
  passes.addPass(createFuseGatherIntoNormPass());
  passes.addPass(createFuseQuantizePass({options.panelRows})); // after the gather: a rounding joins what is left of its row
  // Last: whether a norm pays inside its linear depends on what else the linear's region holds.
  passes.addPass(createFuseNormIntoLinearPass({options.panelRows, options.fuseNorm}));
}

void buildSchedule(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createSetSchedulePass({options.target, options.schedule}));
}

void buildTile(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createPackWeightsPass({options.panelRows}));
  passes.addPass(createLowerToTilePass());
}

void buildMemory(OpPassManager &passes, const PipelineOptions &) {
  passes.addPass(createPlaceWeightsPass());
  passes.addPass(createPlanArenaPass());
  passes.addPass(
      createSetDependenciesPass()); // after places: two values that share one depend on each other
}

void buildKernel(OpPassManager &passes, const PipelineOptions &options) {
  std::string error;
  if (std::unique_ptr<Target> target = createTarget(options.target, error))
    target->addKernelPasses(passes);
  else
    passes.addPass(createSetSchedulePass(
        {options.target, ""})); // names the target that there is not; a builder cannot fail
}

constexpr Stage kStages[] = {
    {"import", "a model file becomes a module in llm, one function a graph", nullptr, true},
    {"graph", "fuses ops into regions, merges projections, lays out the KV cache", buildGraph,
     true},
    {"schedule", "asks target and cost model how each region runs, and writes it down",
     buildSchedule, true},
    {"tile", "each region becomes a block program and a launch", buildTile, true},
    {"memory", "places activations, caches and packed weights; finds dependencies", buildMemory,
     true},
    {"kernel", "block programs become functions of the target", buildKernel, true},
    {"object", "machine code, command tables and packed weights become the artefact", nullptr,
     false},
};

} // namespace

llvm::ArrayRef<Stage> llmc::stages() { return kStages; }

const Stage *llmc::findStage(llvm::StringRef name) {
  for (const Stage &stage : kStages)
    if (stage.name == name)
      return &stage;
  return nullptr;
}

void llmc::addContract(OpPassManager &passes, const Stage &stage) {
  if (stage.hasContract)
    passes.addPass(createVerifyContractPass({stage.name.str()}));
}

void llmc::addStage(OpPassManager &passes, const Stage &stage, const PipelineOptions &options) {
  if (stage.build) {
    stage.build(passes, options);
    passes.addPass(createCanonicalizerPass()); // clean-up at stage ends only, so IR between passes
                                               // is attributable
    passes.addPass(createCSEPass());
  }
  addContract(passes, stage);
}

void llmc::addStages(OpPassManager &passes, llvm::StringRef from, llvm::StringRef to,
                     const PipelineOptions &options) {
  bool running = false;
  for (const Stage &stage : kStages) {
    if (running)
      addStage(passes, stage, options);
    running |= stage.name == from;
    if (stage.name == to)
      return;
  }
}

namespace {

struct StageOptions : PassPipelineOptions<StageOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("target"),
                             llvm::cl::init("cpu:native")};
  Option<std::string> kvLayout{*this, "kv-layout", llvm::cl::desc("head_major or token_major"),
                               llvm::cl::init("head_major")};
  Option<std::string> fuseNorm{*this, "fuse-norm", llvm::cl::desc("cost, always or never"),
                               llvm::cl::init("cost")};
  Option<std::string> quant{*this, "quant", llvm::cl::desc("keep, f32, bf16, int8 or int4"),
                            llvm::cl::init("keep")};
  Option<std::string> kv{*this, "kv", llvm::cl::desc("auto, f32, bf16 or int8"), llvm::cl::init("auto")};
  Option<std::string> schedule{*this, "schedule", llvm::cl::desc("forced schedule fields"),
                               llvm::cl::init("")};

  PipelineOptions plain() const { return {target, kvLayout, fuseNorm, schedule, quant, 32, kv}; }
};

/// `llmc-stage=tile` or `llmc-stage="tile target=cpu:x86-64-v3"`: the first word names the stage,
/// options follow.
LogicalResult addNamedStage(OpPassManager &passes, StringRef text,
                            function_ref<LogicalResult(const Twine &)> refuse) {
  auto [name, rest] = text.trim().split(' ');
  const Stage *stage = findStage(name);
  if (!stage || !stage->hasContract) {
    SmallVector<StringRef> names;
    for (const Stage &known : kStages)
      if (known.hasContract)
        names.push_back(known.name);
    return refuse("unknown stage '" + name + "', expected one of " + llvm::join(names, ", "));
  }
  StageOptions options;
  if (failed(options.parseFromString(rest)))
    return failure();
  std::string error;
  if (!createTarget(options.target, error))
    return refuse(error);
  addStage(passes, *stage, options.plain());
  return success();
}

} // namespace

void llmc::registerPasses() {
  registerGraphPasses();
  registerSchedulePasses();
  registerTilePasses();
  registerMemoryPasses();
  registerContractPasses();
  registerTargetPasses();
  registerPassPipeline(
      "llmc-stage",
      "One stage of the road: its passes, clean-up, contract. STAGE or \"STAGE option=value ...\"",
      addNamedStage,
      [](function_ref<void(const mlir::detail::PassOptions &)> show) { show(StageOptions()); });
}
