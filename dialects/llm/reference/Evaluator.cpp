// SPDX-License-Identifier: Apache-2.0
//
// One case for each op on rows and outputs; attention and its cache are in EvaluateAttention.cpp.
#include "dialects/llm/reference/Evaluator.h"
#include "dialects/llm/reference/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc::reference {

static Activation activationOf(llm::Activation activation) {
  switch (activation) {
  case llm::Activation::SiLU:
    return Activation::SiLU;
  case llm::Activation::GELUTanh:
    return Activation::GELUTanh;
  case llm::Activation::GELUErf:
    return Activation::GELUErf;
  case llm::Activation::ReLU:
    return Activation::ReLU;
  }
  llvm_unreachable("all activations are listed");
}

Status Evaluator::visit(Operation *op) {
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case<llm::EmbedOp, llm::GatherRowsOp, llm::RMSNormOp, llm::QuantizeOp, llm::LinearOp,
            llm::SplitOp, llm::AddOp, llm::ActivateOp, llm::MLPOp, llm::RopeOp, llm::KVAppendOp,
            llm::AttentionOp, llm::AttentionMergeOp, llm::LMHeadOp, llm::SpeculativeVerifyOp, llm::FusedOp>(
          [&](auto typed) { return visit(typed); })
      .Case<llm::KVViewOp>(
          [](llm::KVViewOp) { return Status(); }) // a view is looked through by what reads it
      .Default([](Operation *other) -> Status {
        return opError(
            other, "has no reference implementation, expected an op of the llm dialect on tensors");
      });
}

Result<const Tensor *> Evaluator::operand(Operation *op, Value value) {
  auto found = environment.find(value);
  if (found == environment.end())
    return opError(op,
                   "has an operand without a value, expected it to be computed before or given");
  const Tensor &tensor = found->second;
  llm::Line line = llm::lineOf(value.getType());
  int64_t lines = line == llm::Line::Row      ? step.rows()
                  : line == llm::Line::Output ? step.outputs()
                                              : int64_t(step.sequences.size());
  int64_t width = llm::widthOf(value.getType());
  if (tensor.lines != lines || tensor.width != width ||
      int64_t(tensor.values.size()) != lines * width)
    return opError(op, "has an operand of " + std::to_string(tensor.lines) + " x " +
                           std::to_string(tensor.width) + ", expected " + std::to_string(lines) +
                           " x " + std::to_string(width));
  return &tensor;
}

Status Evaluator::set(Value value, Result<Tensor> tensor) {
  if (!tensor)
    return tensor.takeError();
  environment[value] = std::move(*tensor);
  return {};
}

Result<Tensor> Evaluator::product(Operation *op, const Tensor &x, FlatSymbolRefAttr weight,
                                  FlatSymbolRefAttr bias) {
  Result<const Tensor *> matrix = weights.get(op, weight);
  if (!matrix)
    return matrix.takeError();
  if (!bias)
    return linear(x, **matrix, nullptr);
  Result<const Tensor *> vector = weights.get(op, bias);
  if (!vector)
    return vector.takeError();
  return linear(x, **matrix, *vector);
}

Status Evaluator::visit(llm::EmbedOp op) {
  int64_t width = llm::widthOf(op.getResult().getType());
  if (step.embeddings.empty())
    return set(op.getResult(), weights.rows(op, op.getTableAttr(), step.tokens));
  if (int64_t(step.embeddings.size()) != step.rows() * width)
    return opError(op, "is given " + std::to_string(step.embeddings.size()) +
                           " values as embeddings, expected " + std::to_string(step.rows()) +
                           " x " + std::to_string(width));
  return set(op.getResult(), Tensor(step.rows(), width, step.embeddings));
}

Status Evaluator::visit(llm::GatherRowsOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  return x ? set(op.getResult(), gatherRows(**x, step.outputRows)) : Status(x.takeError());
}

Status Evaluator::visit(llm::RMSNormOp op) {
  Result<const Tensor *> x = operand(op, op.getInput()),
                         weight = weights.get(op, op.getWeightAttr());
  if (!x)
    return x.takeError();
  if (!weight)
    return weight.takeError();
  return set(op.getResult(),
             rmsNorm(**x, **weight, op.getEps().convertToFloat(), int64_t(op.getGroups())));
}

Status Evaluator::visit(llm::QuantizeOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  return x ? set(op.getResult(), quantize(**x)) : Status(x.takeError());
}

Status Evaluator::visit(llm::LinearOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  return x ? set(op.getResult(), product(op, **x, op.getWeightAttr(), op.getBiasAttr()))
           : Status(x.takeError());
}

Status Evaluator::visit(llm::SplitOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  if (!x)
    return x.takeError();
  Tensor whole = **x; // a copy: storing a part may move what the operand points at
  int64_t first = 0;
  for (Value part : op.getParts()) {
    int64_t width = llm::widthOf(part.getType());
    environment[part] = columns(whole, first, width);
    first += width;
  }
  return {};
}

Status Evaluator::visit(llm::AddOp op) {
  Result<const Tensor *> lhs = operand(op, op.getLhs()), rhs = operand(op, op.getRhs());
  if (!lhs)
    return lhs.takeError();
  return rhs ? set(op.getResult(), add(**lhs, **rhs)) : Status(rhs.takeError());
}

Status Evaluator::visit(llm::ActivateOp op) {
  Result<const Tensor *> gate = operand(op, op.getGate()), up = operand(op, op.getUp());
  if (!gate)
    return gate.takeError();
  return up ? set(op.getResult(), activate(activationOf(op.getActivation()), **gate, **up))
            : Status(up.takeError());
}

Status Evaluator::visit(llm::MLPOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  if (!x)
    return x.takeError();
  Result<Tensor> gate = product(op, **x, op.getGateAttr(), op.getGateBiasAttr());
  if (!gate)
    return gate.takeError();
  Result<Tensor> up = product(op, **x, op.getUpAttr(), op.getUpBiasAttr());
  if (!up)
    return up.takeError();
  Tensor hidden = activate(activationOf(op.getActivation()), *gate, *up);
  return set(op.getResult(), product(op, hidden, op.getDownAttr(), op.getDownBiasAttr()));
}

Status Evaluator::visit(llm::LMHeadOp op) {
  Result<const Tensor *> x = operand(op, op.getInput());
  return x ? set(op.getResult(), product(op, **x, op.getWeightAttr(), {})) : Status(x.takeError());
}

Status Evaluator::visit(llm::SpeculativeVerifyOp op) {
  Result<const Tensor *> logits = operand(op, op.getLogits());
  if (!logits)
    return logits.takeError();
  if (step.tokens.empty())
    return opError(
        op, "compares drafted tokens, expected a step with tokens and found embeddings alone");
  std::vector<int32_t> tokens;
  for (int32_t row : step.outputRows)
    tokens.push_back(step.tokens[size_t(row)]);
  return set(op.getResult(), speculativeVerify(**logits, tokens, step.sequenceRow));
}

Status Evaluator::visit(llm::FusedOp op) {
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    if (Status status = visit(&inner); !status)
      return status;
  for (auto [result, yielded] : llvm::zip(op.getResults(), body.getTerminator()->getOperands())) {
    auto found = environment.find(yielded);
    if (found != environment.end()) {
      Tensor tensor = found->second;
      environment[result] = std::move(tensor);
    } else if (!isa<llm::KVViewType>(yielded.getType())) {
      return opError(op, "yields a value that nothing computes");
    }
  }
  return {};
}

} // namespace llmc::reference
