// SPDX-License-Identifier: Apache-2.0
//
// One visit of one op: fetches operands and weights, calls the function of Math.h, stores the
// results.
#pragma once

#include "dialects/llm/reference/Interpreter.h"

namespace llmc::reference {

struct VisibleKeys;

class Evaluator {
public:
  Evaluator(Environment &environment, const Step &step, Weights &weights, Caches &caches)
      : environment(environment), step(step), weights(weights), caches(caches) {}

  Status visit(mlir::Operation *op);

private:
  Status visit(llm::EmbedOp op);
  Status visit(llm::GatherRowsOp op);
  Status visit(llm::RMSNormOp op);
  Status visit(llm::QuantizeOp op);
  Status visit(llm::LinearOp op);
  Status visit(llm::SplitOp op);
  Status visit(llm::AddOp op);
  Status visit(llm::ActivateOp op);
  Status visit(llm::MLPOp op);
  Status visit(llm::RopeOp op);
  Status visit(llm::KVAppendOp op);
  Status visit(llm::AttentionOp op);
  Status visit(llm::AttentionMergeOp op);
  Status visit(llm::LMHeadOp op);
  Status visit(llm::SpeculativeVerifyOp op);
  Status visit(llm::FusedOp op);

  /// The value of an operand; an error when nobody has given it, or with other lines than the step
  /// has.
  Result<const Tensor *> operand(mlir::Operation *op, mlir::Value value);
  /// x times the transposed weight, plus the bias where there is one.
  Result<Tensor> product(mlir::Operation *op, const Tensor &x, mlir::FlatSymbolRefAttr weight,
                         mlir::FlatSymbolRefAttr bias);
  /// The keys that `row` sees through a view.
  Result<VisibleKeys> visibleKeys(llm::AttentionOp op, size_t row);
  /// Unmerged results of each part of these keys, as `op` leaves them.
  void attendInParts(llm::AttentionOp op, const float *query, const VisibleKeys &seen, size_t row, float *result);
  Status set(mlir::Value value, Result<Tensor> tensor);

  Environment &environment;
  const Step &step;
  Weights &weights;
  Caches &caches;
};

} // namespace llmc::reference
