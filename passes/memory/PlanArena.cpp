// SPDX-License-Identifier: Apache-2.0
//
// Gives every value between launches a place in the session's arena. The graphs of an artefact
// never run at the same time on one session, so each is planned by itself and the arena is as large
// as the largest needs.
#include "mlir/IR/Builders.h"
#include "passes/Remarks.h"
#include "passes/ViewOf.h"
#include "passes/graph/Regions.h"
#include "passes/memory/ArenaPlan.h"
#include "passes/memory/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_PLANARENAPASS
#include "MemoryPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

namespace {

constexpr int64_t kAlignment = 64;
constexpr StringLiteral kName = "llmc-plan-arena";

tile::Extent arenaOf(Type tensor) {
  return llm::lineOf(tensor) == llm::Line::Row ? tile::Extent::Rows : tile::Extent::Outputs;
}

/// Values of one arena with their lifetimes, in the order of `owners`.
struct Lifetimes {
  std::vector<ArenaValue> values;
  SmallVector<Value> owners;
};

Lifetimes lifetimesOf(FunctionOpInterface graph, tile::Extent arena) {
  Lifetimes lives;
  llvm::DenseMap<Operation *, int64_t> number;
  for (auto [i, op] : llvm::enumerate(graph.getFunctionBody().front()))
    number[&op] = int64_t(i);
  for (auto launch : graph.getFunctionBody().front().getOps<tile::LaunchOp>())
    for (Value result : launch.getResults()) {
      if (arenaOf(result.getType()) != arena)
        continue;
      ArenaValue value;
      value.birth = value.lastUse = number[launch];
      for (Operation *user : result.getUsers())
        value.lastUse = std::max(value.lastUse, number[user]);
      value.bytes = viewOf(result.getType()).getLineBytes();
      lives.values.push_back(value);
      lives.owners.push_back(result);
    }
  return lives;
}

struct PlanArenaPass : llmc::impl::PlanArenaPassBase<PlanArenaPass> {
  void runOnOperation() override {
    int64_t rows = planned(kRowsArenaAttrName), outputs = planned(kOutputsArenaAttrName);
    for (FunctionOpInterface graph : graph::graphsOf(getOperation())) {
      if (isPlanned(graph))
        continue;
      if (failed(check(graph)))
        return signalPassFailure();
      llvm::DenseMap<Value, int64_t> offsets;
      int64_t graphRows = plan(graph, tile::Extent::Rows, offsets),
              graphOutputs = plan(graph, tile::Extent::Outputs, offsets);
      rows = std::max(rows, graphRows);
      outputs = std::max(outputs, graphOutputs);
      remarkAnalysis(graph, kName, graph.getName(),
                     Twine(graphRows) + " bytes a row, " + Twine(graphOutputs) +
                         " bytes an output");
      rewrite(graph, offsets);
    }
    Builder builder(&getContext());
    if (!rows && !outputs)
      return;
    getOperation()->setAttr(kRowsArenaAttrName, builder.getI64IntegerAttr(rows));
    getOperation()->setAttr(kOutputsArenaAttrName, builder.getI64IntegerAttr(outputs));
  }

  /// Bytes a line that graphs planned before need.
  int64_t planned(StringRef attribute) {
    auto bytes = getOperation()->getAttrOfType<IntegerAttr>(attribute);
    return bytes ? bytes.getInt() : 0;
  }

  /// Nothing in it is a tensor any more.
  static bool isPlanned(FunctionOpInterface graph) {
    Block &block = graph.getFunctionBody().front();
    return block.getTerminator()->getNumOperands() == 0 &&
           llvm::all_of(block.getOps<tile::LaunchOp>(),
                        [](tile::LaunchOp launch) { return launch.getResults().empty(); });
  }

  static LogicalResult check(FunctionOpInterface graph) {
    for (auto launch : graph.getFunctionBody().front().getOps<tile::LaunchOp>())
      for (Value result : launch.getResults())
        if (!isa<RankedTensorType>(result.getType()))
          return launch.emitError()
                 << "expects tensors as results of a launch before places are given, found "
                 << result.getType();
    Operation *end = graph.getFunctionBody().front().getTerminator();
    for (Value value : end->getOperands())
      if (!value.getDefiningOp<tile::LaunchOp>())
        return end->emitError() << "expects a graph to return what its launches compute, found "
                                   "another value of type "
                                << value.getType();
    return success();
  }

  int64_t plan(FunctionOpInterface graph, tile::Extent arena,
               llvm::DenseMap<Value, int64_t> &offsets) {
    Lifetimes lives = lifetimesOf(graph, arena);
    int64_t bytes = planArena(lives.values, kAlignment);
    for (auto [owner, value] : llvm::zip(lives.owners, lives.values))
      offsets[owner] = value.offset;
    return bytes;
  }

  void rewrite(FunctionOpInterface graph, const llvm::DenseMap<Value, int64_t> &offsets) {
    llvm::DenseMap<Value, Value> places;
    SmallVector<tile::LaunchOp> launches(graph.getFunctionBody().front().getOps<tile::LaunchOp>());
    for (tile::LaunchOp launch : launches)
      rewriteLaunch(launch, offsets, places);
    Operation *end = graph.getFunctionBody().front().getTerminator();
    OpBuilder builder(end);
    for (Value result : end->getOperands()) {
      bool logits = cast<RankedTensorType>(result.getType()).getElementType().isF32();
      tile::ResultOp::create(builder, end->getLoc(),
                             logits ? tile::ResultKind::Logits : tile::ResultKind::Accepted,
                             places[result]);
    }
    func::ReturnOp::create(builder, end->getLoc());
    end->erase();
    for (tile::LaunchOp launch : llvm::reverse(launches))
      launch.erase();
    graph.setFunctionTypeAttr(TypeAttr::get(FunctionType::get(
        &getContext(), cast<FunctionType>(graph.getFunctionType()).getInputs(), {})));
    if (auto function = dyn_cast<func::FuncOp>(graph.getOperation()))
      function.setResAttrsAttr(nullptr);
  }

  void rewriteLaunch(tile::LaunchOp launch, const llvm::DenseMap<Value, int64_t> &offsets,
                     llvm::DenseMap<Value, Value> &places) {
    OpBuilder builder(launch);
    SmallVector<Value> operands;
    for (Value operand : launch.getOperands_()) {
      Value place = places.lookup(operand);
      operands.push_back(place ? place : operand);
    }
    for (Value result : launch.getResults()) {
      Value place =
          tile::SliceOp::create(builder, launch.getLoc(), viewOf(result.getType()),
                                arenaOf(result.getType()), uint64_t(offsets.lookup(result)));
      places[result] = place;
      operands.push_back(place);
    }
    tile::LaunchOp::create(builder, launch.getLoc(), TypeRange(), launch.getKernelAttr(),
                           launch.getNameAttr(), launch.getExtentAttr(), launch.getInnerAttr(),
                           launch.getChunkAttr(), operands, launch.getDependencyAttr());
  }
};

} // namespace
