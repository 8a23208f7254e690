// SPDX-License-Identifier: Apache-2.0
//
// Which op of a fused region is most likely to blame for a difference, when only the region's results reach memory.
#pragma once

#include "tools/llmc/compiler/CompareStep.h"

namespace llmc::compare {

/// Fills op, why and ops of `difference`. `environment` holds the reference's values of everything in the region, `found` what
/// the compiled side wrote.
Status blame(CompareState &state, llm::FusedOp region, const reference::Environment &environment, const reference::Step &step,
             const llvm::DenseMap<mlir::Value, reference::Tensor> &found, Difference &difference);

} // namespace llmc::compare
