// SPDX-License-Identifier: Apache-2.0
//
// Which op of a fused region is most likely to blame for a difference, when only the region's
// results reach memory: each op is bent in the ways in which kernels go wrong (scaled rows, no
// bias, another activation, ...), the ops after it are evaluated again, and the one that comes
// nearest to what was found is named. Where none comes near, the region's main op is.
#pragma once

#include "tools/llmc/compiler/CompareStep.h"

namespace llmc::compare {

using CompiledValues = llvm::DenseMap<mlir::Value, reference::Tensor>;

/// What is known about a wrong result.
struct Evidence {
  llm::FusedOp region;
  mlir::Value value; ///< inside the region: what it yields, or the keys that it appends
  const reference::Tensor &found; ///< the compiled side's
  const reference::Environment
      &environment;             ///< the reference's, everything inside the region included
  const CompiledValues &others; ///< results of regions before, as the compiled side wrote them
  const reference::Step &step;
  double rounding = 0; ///< relative error of `found`'s elements by the format they are stored in
};

/// Fills op and why of `difference`.
void blame(reference::Interpreter &interpreter, const Evidence &evidence, Difference &difference);

} // namespace llmc::compare
