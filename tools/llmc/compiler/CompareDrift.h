// SPDX-License-Identifier: Apache-2.0
//
// The reference from end to end beside the compiled model, on its own values. Two runs that round
// to few bits drift apart wherever a value lies in the middle of two codes and the last place of
// its sum decides; from there they differ as much as rounding itself does. So at such places, and
// nowhere else, the reference takes the code that the compiled side has.
#pragma once

#include "dialects/llm/reference/Interpreter.h"
#include "tools/llmc/compiler/Compare.h"

namespace llmc::compare {

/// What a region reads of `values`.
reference::Environment inputsOf(llm::FusedOp region,
                                const llvm::DenseMap<mlir::Value, reference::Tensor> &values);

class Drift {
public:
  Drift(reference::Interpreter &interpreter) : interpreter(interpreter) {}

  void beginStep() { values.clear(); }
  /// Evaluates a region on this side's own values and caches.
  Status evaluate(llm::FusedOp region, const reference::Step &step);
  /// What the compiled side has for a result of the region evaluated last. Logits add to the
  /// divergence.
  void meet(mlir::OpResult result, const reference::Tensor &found);
  /// The same for a row, line `line` of the step, that it appended to a cache that rounds.
  void meetRow(llm::KVAppendOp append, int64_t line, uint64_t sequence, int64_t slot,
               const reference::CachedRow &found);
  void truncate(uint64_t sequence, int64_t slots) { caches.truncate(sequence, slots); }

  Divergence divergence;

private:
  void takeCodes(llm::QuantizeOp op, reference::Tensor &own, const reference::Tensor &found);
  void addDivergence(const reference::Tensor &own, const reference::Tensor &found);

  reference::Interpreter &interpreter;
  reference::Environment environment; ///< of the last region
  reference::Caches caches;
  llvm::DenseMap<mlir::Value, reference::Tensor> values;
};

} // namespace llmc::compare
