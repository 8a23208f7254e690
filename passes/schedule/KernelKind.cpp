// SPDX-License-Identifier: Apache-2.0
//
// What a fused region is: the op that shapes its loops.
#include "passes/Target.h"
#include "passes/graph/Regions.h"

using namespace llmc;
using namespace llmc::llm;

KernelKind llmc::kindOf(FusedOp region) {
  if (graph::findIn<LinearOp>(region) || graph::findIn<LMHeadOp>(region))
    return KernelKind::Linear;
  if (graph::findIn<AttentionOp>(region))
    return KernelKind::Attention;
  if (graph::findIn<KVAppendOp>(region) || graph::findIn<RopeOp>(region))
    return KernelKind::RopeAppend;
  if (graph::findIn<SpeculativeVerifyOp>(region))
    return KernelKind::Verify;
  if (auto norm = graph::findIn<RMSNormOp>(region); norm && norm.getGroups() > 1)
    return KernelKind::RopeAppend;
  return KernelKind::RowWise;
}

llvm::StringRef llmc::stringify(KernelKind kind) {
  switch (kind) {
  case KernelKind::RowWise:
    return "row_wise";
  case KernelKind::Linear:
    return "linear";
  case KernelKind::RopeAppend:
    return "rope_append";
  case KernelKind::Attention:
    return "attention";
  case KernelKind::Verify:
    return "verify";
  }
  return "";
}
