// SPDX-License-Identifier: Apache-2.0
//
// Makes every fused region a block program and a launch of it. Regions of the same kind, shapes,
// types and schedule share one, so code does not grow with the number of layers: they are told by
// what they say (SharedKernels), others by the text of the kernel that they become.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/Regions.h"
#include "passes/tile/SharedKernels.h"
#include "llvm/ADT/StringMap.h"

namespace llmc {
#define GEN_PASS_DEF_LOWERTOTILEPASS
#include "TilePasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

LogicalResult buildKernel(tiles::KernelBuilder &k, KernelKind kind) {
  switch (kind) {
  case KernelKind::RowWise:
    return tiles::buildRowWise(k);
  case KernelKind::Linear:
    return tiles::buildLinear(k);
  case KernelKind::RopeAppend:
    return tiles::buildRopeAppend(k);
  case KernelKind::Attention:
    return tiles::buildAttention(k);
  case KernelKind::Verify:
    return tiles::buildVerify(k);
  }
  return failure();
}

/// The kernels of a module by what they say.
class KernelSet {
public:
  explicit KernelSet(ModuleOp module) : module(module) {}

  /// A kernel with the text of `draft`: one that is there already, or the draft under a name of its
  /// own.
  FlatSymbolRefAttr add(tile::KernelOp draft, KernelKind kind) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    draft->print(stream, OpPrintingFlags().useLocalScope().enableDebugInfo(false));
    FlatSymbolRefAttr &known = byText[text];
    if (known) {
      draft.erase();
      return known;
    }
    std::string name;
    do
      name = (stringify(kind) + "_" + Twine(counters[unsigned(kind)]++)).str();
    while (module.lookupSymbol(name));
    draft.setSymName(name);
    return known = FlatSymbolRefAttr::get(module.getContext(), name);
  }

private:
  ModuleOp module;
  llvm::StringMap<FlatSymbolRefAttr> byText;
  llvm::DenseMap<unsigned, int> counters;
};

struct LowerToTilePass : llmc::impl::LowerToTilePassBase<LowerToTilePass> {
  void runOnOperation() override {
    KernelSet kernels(getOperation());
    shared = {};
    for (FunctionOpInterface graph : graph::graphsOf(getOperation())) {
      if (failed(checkGraph(graph)))
        return signalPassFailure();
      SmallVector<FusedOp> regions(graph.getFunctionBody().front().getOps<FusedOp>());
      for (FusedOp region : regions)
        if (failed(lower(region, kernels)))
          return signalPassFailure();
      for (FusedOp region : llvm::reverse(regions)) {
        if (failed(checkUses(region)))
          return signalPassFailure();
        region.erase();
      }
      results.clear(); // its keys are gone
      retypeStep(graph);
    }
  }

  static LogicalResult checkGraph(FunctionOpInterface graph) {
    for (Operation &op : graph.getFunctionBody().front())
      if (isa<LLMDialect>(op.getDialect()) && !isa<FusedOp>(op))
        return op.emitError() << "expects every op of a graph in a fused region, found '"
                              << op.getName() << "': run the graph and schedule stages first";
    return success();
  }

  /// Checked before a kernel is built: row-wise loops step by lanes, and trees halve them.
  static LogicalResult checkSchedule(FusedOp region) {
    ScheduleAttr schedule = region.getScheduleAttr();
    if (!schedule)
      return region.emitError() << "expects a schedule on fused region \"" << region.getName()
                                << "\": run the schedule stage first";
    KernelKind kind = kindOf(region);
    bool sums = graph::findIn<RMSNormOp>(region) ||
                (kind != KernelKind::Linear && kind != KernelKind::RopeAppend);
    if (sums && !llvm::isPowerOf2_64(uint64_t(schedule.getLanes())))
      return region.emitError() << "expects lanes of fused region \"" << region.getName()
                                << "\" to be a power of two, found " << schedule.getLanes();
    if (region.getNumResults() == 0)
      return region.emitError() << "expects fused region \"" << region.getName()
                                << "\" to yield a value, found none";
    return success();
  }

  /// What the launches do not stand for, and the graph still uses, has no place in memory: a cache
  /// that a graph returns, say.
  static LogicalResult checkUses(FusedOp region) {
    for (OpResult result : region.getResults())
      if (!result.use_empty()) {
        auto diagnostic = region.emitError()
                          << "expects result " << result.getResultNumber() << " of fused region \""
                          << region.getName() << "\" to be used by regions or returned as a tensor";
        diagnostic.attachNote(result.getUsers().begin()->getLoc()) << "used here";
        return diagnostic;
      }
    return success();
  }

  LogicalResult lower(FusedOp region, KernelSet &kernels) {
    if (failed(checkSchedule(region)))
      return failure();
    KernelKind kind = kindOf(region);
    OpBuilder graph(region);
    FlatSymbolRefAttr kernel;
    std::optional<tiles::Launch> known = shared.find(region, kind, graph, kernel);
    if (!known && failed(build(region, kind, graph, kernels, known, kernel)))
      return failure();
    const tiles::Launch &launch = *known;
    auto op = tile::LaunchOp::create(
        graph, region.getLoc(), launch.results, kernel, region.getNameAttr(),
        tile::ExtentAttr::get(&getContext(), launch.extent), graph.getI64IntegerAttr(launch.inner),
        graph.getI64IntegerAttr(launch.chunk), mapped(launch.operands), IntegerAttr());
    for (auto [replaced, result] : llvm::zip(launch.replaced, op.getResults()))
      results[replaced] = result;
    for (Value result : region.getResults())
      if (Value now = results.lookup(result))
        result.replaceUsesWithIf(
            now, [&](OpOperand &use) { return isa<func::ReturnOp>(use.getOwner()); });
    return success();
  }

  LogicalResult build(FusedOp region, KernelKind kind, OpBuilder &graph, KernelSet &kernels,
                      std::optional<tiles::Launch> &launch, FlatSymbolRefAttr &kernel) {
    OpBuilder end = OpBuilder::atBlockEnd(getOperation().getBody());
    Type step = tile::StepType::get(&getContext());
    auto draft = tile::KernelOp::create(end, region.getLoc(), "draft",
                                        FunctionType::get(&getContext(), step, {}));
    tiles::KernelBuilder builder(region, draft, graph);
    if (failed(buildKernel(builder, kind)))
      return failure();
    builder.finish();
    kernel = kernels.add(draft, kind);
    shared.keep(region, kind, builder.launch, kernel);
    launch = std::move(builder.launch);
    return success();
  }

  /// Values of the graph as they are now: results of regions are results of launches.
  SmallVector<Value> mapped(ArrayRef<Value> operands) {
    return llvm::map_to_vector(operands, [&](Value value) {
      Value now = results.lookup(value);
      return now ? now : value;
    });
  }

  void retypeStep(FunctionOpInterface graph) {
    Type step = tile::StepType::get(&getContext());
    for (BlockArgument argument : graph.getArguments())
      if (isa<llm::StepType>(argument.getType()))
        argument.setType(step);
    graph.setFunctionTypeAttr(
        TypeAttr::get(FunctionType::get(&getContext(), graph.getFunctionBody().getArgumentTypes(),
                                        cast<FunctionType>(graph.getFunctionType()).getResults())));
  }

  llvm::DenseMap<Value, Value> results;
  tiles::SharedKernels shared;
};

} // namespace
