// SPDX-License-Identifier: Apache-2.0
//
// A graph is run op by op; a value is dropped after its last use, so memory does not grow with the
// number of layers.
#include "dialects/llm/reference/Interpreter.h"
#include "dialects/llm/reference/Evaluator.h"
#include "dialects/llm/reference/Math.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;

namespace llmc::reference {
namespace {

Result<func::FuncOp> findGraph(ModuleOp module, StringRef graph) {
  for (auto function : module.getOps<func::FuncOp>())
    if (auto name = function->getAttrOfType<StringAttr>(llm::kGraphAttrName);
        name && name.getValue() == graph) {
      if (function.getBody().hasOneBlock())
        return function;
      return opError(function, "is graph '" + graph.str() + "', expected a body of one block");
    }
  return opError(module, "found no graph '" + escaped(std::string_view(graph)) +
                             "', expected a function with llm.graph");
}

/// For each op of `block` the values that it, or a region of it, is the last to use.
llvm::DenseMap<Operation *, SmallVector<Value>> lastUses(Block &block) {
  llvm::DenseMap<Value, Operation *> last;
  for (Operation &op : block)
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        last[operand] = &op;
      for (Value result : inner->getResults())
        last[result] = &op;
    });
  llvm::DenseMap<Operation *, SmallVector<Value>> uses;
  for (auto [value, op] : last)
    uses[op].push_back(value);
  return uses;
}

} // namespace

Status Interpreter::evaluate(Operation *op, Environment &environment, const Step &step,
                             Caches &caches) {
  if (Status status = checkStep(step); !status)
    return status;
  return Evaluator(environment, step, weights, caches).visit(op);
}

Result<Outputs> Interpreter::run(StringRef graph, const Step &step) {
  Result<func::FuncOp> function = findGraph(module, graph);
  if (!function)
    return function.takeError();
  if (Status status = checkStep(step); !status)
    return status.takeError();
  Block &body = function->getBody().front();
  auto uses = lastUses(body);
  Environment environment;
  Evaluator evaluator(environment, step, weights, ownCaches);
  for (Operation &op : body.without_terminator()) {
    if (Status status = evaluator.visit(&op); !status)
      return status.takeError();
    for (Value value : uses[&op])
      environment.erase(value);
  }
  Outputs outputs;
  for (Value value : body.getTerminator()->getOperands()) {
    auto found = environment.find(value);
    if (found == environment.end())
      return opError(body.getTerminator(), "returns a value that nothing computes");
    bool perSequence = llm::lineOf(value.getType()) == llm::Line::Sequence;
    (perSequence ? outputs.accepted : outputs.logits) = found->second;
  }
  return outputs;
}

Result<std::vector<int32_t>> greedyGenerate(Interpreter &interpreter,
                                            const std::vector<int32_t> &prompt, int64_t maxNew,
                                            const std::vector<int32_t> &eos, uint64_t handle) {
  interpreter.caches().truncate(handle, 0);
  std::vector<int32_t> generated, next = prompt;
  int32_t position = 0;
  while (int64_t(generated.size()) < maxNew) {
    StringRef graph = generated.empty() ? "prefill" : "decode";
    Result<Outputs> outputs =
        interpreter.run(graph, StepBuilder().add(handle, next, position, Wanted::Last).take());
    if (!outputs)
      return outputs.takeError();
    if (outputs->logits.lines != 1)
      return errorAt("", "",
                     "found no logits among the results of graph '" + graph.str() +
                         "', expected them for the last row");
    position += int32_t(next.size());
    int32_t token = argMax(outputs->logits.line(0), outputs->logits.width);
    generated.push_back(token);
    next = {token};
    if (std::find(eos.begin(), eos.end(), token) != eos.end())
      break;
  }
  return generated;
}

} // namespace llmc::reference
