// SPDX-License-Identifier: Apache-2.0
//
// Parts the keys of attention, so that threads share them out: a model with few key/value heads
// gives few programs a row. All graphs reduce in the same parts, for the same bits; where a graph's
// rows are one a sequence, parts become programs and their results are merged by an op of its own.
#include "mlir/IR/Builders.h"
#include "passes/Remarks.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Regions.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace llmc {
#define GEN_PASS_DEF_SPLITATTENTIONPASS
#include "GraphPasses.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;

namespace {

constexpr StringLiteral kName = "llmc-split-attention";
constexpr int64_t kPrograms = 8; // a row should have, for some threads to share out evenly

struct SplitAttentionPass : llmc::impl::SplitAttentionPassBase<SplitAttentionPass> {
  using SplitAttentionPassBase::SplitAttentionPassBase;

  void runOnOperation() override {
    if (parts < 0) {
      getOperation().emitError() << "expects parts >= 0 (0: as many as the heads call for), found "
                                 << parts.getValue();
      return signalPassFailure();
    }
    SmallVector<AttentionOp> found;
    graph::forEach<AttentionOp>(getOperation(), [&](AttentionOp op) { found.push_back(op); });
    for (AttentionOp attention : found)
      if (attention.getParts() == 1)
        split(attention);
  }

  int64_t partsFor(AttentionOp attention) const {
    if (parts > 0)
      return parts;
    int64_t heads = int64_t(attention.getView().getType().getCache().getHeads());
    return int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(kPrograms / heads, 1))));
  }

  void split(AttentionOp attention) const {
    int64_t count = partsFor(attention);
    std::string name = graph::nameOf(attention);
    if (count == 1)
      return remarkMissed(attention, kName, name, "not split: its key/value heads are programs enough");
    remarkPassed(attention, kName, name, llvm::formatv("keys in {0} parts", count).str());
    attention.setParts(count);
    if (graph::graphNameOf(attention) != "decode")
      return;
    OpBuilder builder(attention.getContext());
    builder.setInsertionPointAfter(attention);
    Value whole = attention.getResult();
    Type type = whole.getType();
    whole.setType(lineTensor(builder.getContext(), attention.getPartialRow().width(), lineOf(type)));
    auto merge = AttentionMergeOp::create(builder, attention.getLoc(), type, whole, attention.getHeads(), count,
                                          attention.getView().getType().getWindow());
    whole.replaceAllUsesExcept(merge.getResult(), merge);
  }
};

} // namespace
