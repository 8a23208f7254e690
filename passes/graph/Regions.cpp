// SPDX-License-Identifier: Apache-2.0
//
// Making and merging fused regions.
#include "passes/graph/Regions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

SmallVector<FunctionOpInterface> graph::graphsOf(ModuleOp module) {
  SmallVector<FunctionOpInterface> graphs;
  for (auto function : module.getOps<FunctionOpInterface>())
    if (function->hasAttr(kGraphAttrName) && !function.isExternal())
      graphs.push_back(function);
  return graphs;
}

StringRef graph::graphNameOf(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  auto name = function ? function->getAttrOfType<StringAttr>(kGraphAttrName) : StringAttr();
  return name ? name.getValue() : StringRef();
}

bool graph::isFree(Operation *op) { return isa<SplitOp, KVViewOp>(op); }

FlatSymbolRefAttr graph::multipliedBy(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return linear.getWeightAttr();
  if (auto head = dyn_cast<LMHeadOp>(op))
    return head.getWeightAttr();
  return {};
}

std::string graph::nameOf(Operation *op) {
  auto inLayerOf = [](StringRef symbol, StringRef kind) {
    size_t dot = symbol.rfind('.');
    return (dot == StringRef::npos ? "" : symbol.substr(0, dot + 1).str()) + kind.str();
  };
  if (auto linear = dyn_cast<LinearOp>(op))
    return linear.getWeight().str();
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return norm.getWeight().str();
  if (isa<QuantizeOp>(op) && !op->use_empty())
    return nameOf(*op->user_begin()) + ".quantize";
  if (auto append = dyn_cast<KVAppendOp>(op))
    return inLayerOf(append.getCache(), "append");
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    auto view = attention.getView().getDefiningOp<KVViewOp>();
    Value cache = view ? view.getCache() : Value();
    while (auto region = cache ? cache.getDefiningOp<FusedOp>() : FusedOp())
      cache = region.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(cache).getResultNumber());
    if (auto append = cache ? cache.getDefiningOp<KVAppendOp>() : KVAppendOp())
      return inLayerOf(append.getCache(), "attention");
  }
  if (auto merge = dyn_cast<AttentionMergeOp>(op))
    if (Operation *attention = merge.getInput().getDefiningOp())
      return (isa<FusedOp>(attention) ? cast<FusedOp>(attention).getName().str() : nameOf(attention)) + ".merge";
  return op->getName().stripDialect().str();
}

FusedOp graph::producerOf(Value value) { return value.getDefiningOp<FusedOp>(); }

FusedOp graph::soleUser(FusedOp region) {
  FusedOp user;
  for (Operation *op : region->getUsers()) {
    auto parent = op->getParentOfType<FusedOp>();
    if (!parent || (user && user != parent))
      return FusedOp();
    user = parent;
  }
  return user;
}

bool graph::canJoin(FusedOp producer, FusedOp consumer) {
  Block *block = consumer->getBlock();
  return llvm::all_of(producer->getUsers(), [&](Operation *user) {
    Operation *outer = block->findAncestorOpInBlock(*user);
    return outer && (outer == consumer || consumer->isBeforeInBlock(outer));
  });
}

FusedOp graph::join(FusedOp producer, FusedOp consumer, StringRef name) {
  OpBuilder builder(consumer);
  auto producerYield = cast<YieldOp>(producer.getBody().front().getTerminator());
  auto consumerYield = cast<YieldOp>(consumer.getBody().front().getTerminator());

  // Inside the consumer the producer's values are used directly.
  for (auto [result, inner] : llvm::zip(producer.getResults(), producerYield.getValues()))
    result.replaceUsesWithIf(
        inner, [&](OpOperand &use) { return consumer->isProperAncestor(use.getOwner()); });

  SmallVector<Value> leaving(consumerYield.getValues());
  SmallVector<Value> replaced(consumer.getResults());
  for (auto [result, inner] : llvm::zip(producer.getResults(), producerYield.getValues()))
    if (!result.use_empty()) {
      leaving.push_back(inner);
      replaced.push_back(result);
    }

  Location loc = FusedLoc::get(builder.getContext(), {producer.getLoc(), consumer.getLoc()});
  auto joined = FusedOp::create(builder, loc, ValueRange(leaving).getTypes(),
                                builder.getStringAttr(name), ScheduleAttr());
  Block *body = builder.createBlock(&joined.getBody());
  for (FusedOp part : {producer, consumer}) {
    Block &from = part.getBody().front();
    from.getTerminator()->erase();
    body->getOperations().splice(body->end(), from.getOperations());
  }
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, loc, leaving);
  for (auto [old, result] : llvm::zip(replaced, joined.getResults()))
    old.replaceAllUsesWith(result);
  consumer.erase();
  producer.erase();
  return joined;
}
