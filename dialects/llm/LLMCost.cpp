// SPDX-License-Identifier: Apache-2.0
//
// FLOPs and bytes of the `llm` ops (CostModelInterface). R rows, each op alone: operands read once, results written once.
#include "dialects/llm/LLMDialect.h"
#include <algorithm>

using namespace mlir;
using namespace llmc::llm;

static double linesOf(Type tensor, const StepShape &shape) {
  switch (lineOf(tensor)) {
  case Line::Row:
    return double(shape.rows);
  case Line::Output:
    return double(shape.outputs);
  case Line::Sequence:
    return double(shape.sequences);
  }
  return 0;
}

/// Bytes in memory; a quantised row has a scale and a sum, 4 bytes each, for every group.
static double bytesOf(Type tensor, const StepShape &shape) {
  auto type = cast<RankedTensorType>(tensor);
  double element = isa<GroupType>(type.getElementType()) ? 1 + 8.0 / GroupType::kGroup : 4;
  return linesOf(tensor, shape) * double(widthOf(tensor)) * element;
}

static double elements(Type tensor, const StepShape &shape) { return linesOf(tensor, shape) * double(widthOf(tensor)); }

static double weightBytes(Operation *op, FlatSymbolRefAttr symbol) {
  auto weight = symbol ? lookupWeight(op, symbol) : WeightOp();
  return weight ? double(weight.getType().getBytes()) : 0;
}

/// Keys that the rows of a step see, summed: causal, `rows / sequences` new tokens each.
static double visibleKeys(const StepShape &shape, int64_t window) {
  int64_t fresh = std::max<int64_t>(1, shape.rows / std::max<int64_t>(1, shape.sequences));
  double sum = 0;
  for (int64_t t = 0; t < fresh; ++t) {
    int64_t seen = std::max<int64_t>(shape.context - fresh + t + 1, t + 1);
    sum += double(window > 0 ? std::min(seen, window) : seen);
  }
  return sum * double(shape.sequences);
}

static double tensorBytes(Operation *op, const StepShape &shape) {
  double sum = 0;
  for (Type type : op->getOperandTypes())
    if (isa<RankedTensorType>(type))
      sum += bytesOf(type, shape);
  for (Type type : op->getResultTypes())
    if (isa<RankedTensorType>(type))
      sum += bytesOf(type, shape);
  return sum;
}

OpCost EmbedOp::getCost(const StepShape &shape) {
  auto table = lookupWeight(*this, getTableAttr());
  double row = table ? double(table.getType().getBytes()) / double(table.getType().getRows()) : 0;
  return {0, double(shape.rows) * row, bytesOf(getResult().getType(), shape), 0};
}

OpCost GatherRowsOp::getCost(const StepShape &shape) { return {0, 0, 8 * elements(getResult().getType(), shape), 0}; }

OpCost RMSNormOp::getCost(const StepShape &shape) {
  return {4 * elements(getResult().getType(), shape), weightBytes(*this, getWeightAttr()), tensorBytes(*this, shape), 0};
}

OpCost LinearOp::getCost(const StepShape &shape) {
  double flops = 2 * elements(getInput().getType(), shape) * double(widthOf(getResult().getType()));
  return {flops, weightBytes(*this, getWeightAttr()) + weightBytes(*this, getBiasAttr()), tensorBytes(*this, shape), 0};
}

OpCost QuantizeOp::getCost(const StepShape &shape) {
  return {4 * elements(getInput().getType(), shape), 0, tensorBytes(*this, shape), 0};
}

OpCost SplitOp::getCost(const StepShape &) { return {}; }
OpCost AddOp::getCost(const StepShape &shape) {
  return {elements(getResult().getType(), shape), 0, tensorBytes(*this, shape), 0};
}
OpCost ActivateOp::getCost(const StepShape &shape) {
  return {8 * elements(getResult().getType(), shape), 0, tensorBytes(*this, shape), 0};
}

OpCost MLPOp::getCost(const StepShape &shape) {
  auto gate = lookupWeight(*this, getGateAttr());
  double hidden = gate ? double(gate.getType().getRows()) : 0, lines = linesOf(getInput().getType(), shape);
  double weights = 0;
  for (FlatSymbolRefAttr symbol :
       {getGateAttr(), getUpAttr(), getDownAttr(), getGateBiasAttr(), getUpBiasAttr(), getDownBiasAttr()})
    weights += weightBytes(*this, symbol);
  double width = double(widthOf(getInput().getType()));
  return {6 * lines * width * hidden + 8 * lines * hidden, weights, tensorBytes(*this, shape) + 8 * lines * hidden, 0};
}

OpCost RopeOp::getCost(const StepShape &shape) {
  double table = 4 * double(shape.rows) * double(widthOf(getResult().getType())) / double(getHeads());
  return {3 * elements(getResult().getType(), shape), table, tensorBytes(*this, shape), 0};
}

OpCost KVAppendOp::getCost(const StepShape &shape) {
  double count = elements(getKey().getType(), shape) + elements(getValue().getType(), shape);
  return {0, 0, 4 * count, double(getResult().getType().getTokenBytes()) * linesOf(getKey().getType(), shape)};
}

OpCost AttentionOp::getCost(const StepShape &shape) {
  KVCacheType cache = getView().getType().getCache();
  int64_t window = getView().getType().getWindow();
  double keys = visibleKeys(shape, window), perKey = double(cache.getKey() + cache.getValue());
  double context = double(window > 0 ? std::min(shape.context, window) : shape.context);
  double read = double(cache.getTokenBytes()) * double(shape.sequences) * std::max(context, 1.0);
  return {2 * keys * double(getHeads()) * perKey + 5 * keys * double(getHeads()), 0, tensorBytes(*this, shape), read};
}

OpCost AttentionMergeOp::getCost(const StepShape &shape) {
  double numbers = double(shape.rows) * double(widthOf(getInput().getType()));
  return {3 * numbers, 0, tensorBytes(*this, shape), 0};
}

OpCost LMHeadOp::getCost(const StepShape &shape) {
  double flops = 2 * elements(getInput().getType(), shape) * double(widthOf(getResult().getType()));
  return {flops, weightBytes(*this, getWeightAttr()), tensorBytes(*this, shape), 0};
}

OpCost SpeculativeVerifyOp::getCost(const StepShape &shape) {
  return {elements(getLogits().getType(), shape), 0, tensorBytes(*this, shape), 0};
}

/// Sum of the ops inside, less the values that stay inside: each saves one write and its reads.
OpCost FusedOp::getCost(const StepShape &shape) {
  OpCost sum;
  Block &block = getBody().front();
  Operation *yield = block.getTerminator();
  for (Operation &op : block) {
    if (auto model = dyn_cast<CostModelInterface>(op))
      sum += model.getCost(shape);
    for (Value result : op.getResults()) {
      if (!isa<RankedTensorType>(result.getType()) || isa<SplitOp>(op))
        continue;
      bool leaves = llvm::is_contained(yield->getOperands(), result);
      double uses = 0;
      for (Operation *user : result.getUsers())
        uses += user != yield;
      sum.activationBytes -= bytesOf(result.getType(), shape) * (uses + (leaves ? 0 : 1));
    }
  }
  sum.activationBytes = std::max(sum.activationBytes, 0.0);
  return sum;
}
