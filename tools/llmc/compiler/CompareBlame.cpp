// SPDX-License-Identifier: Apache-2.0
//
// The main op of the region, for a start.
#include "tools/llmc/compiler/CompareBlame.h"
#include "passes/Target.h"
#include "passes/graph/Regions.h"

using namespace mlir;
using namespace llmc::reference;

namespace llmc::compare {

Status blame(CompareState &state, llm::FusedOp region, const Environment &environment, const Step &step,
             const llvm::DenseMap<Value, Tensor> &found, Difference &difference) {
  for (Operation &op : region.getBody().front().without_terminator())
    difference.ops += (difference.ops.empty() ? "" : ", ") + op.getName().getStringRef().str();
  if (difference.op.empty())
    difference.op = region.getBody().front().front().getName().getStringRef().str();
  return {};
}

} // namespace llmc::compare
