// SPDX-License-Identifier: Apache-2.0
//
// Runs `llm` modules, of the import, graph and schedule stages alike: whole graphs with caches that
// last from step to step, or one op or fused region on inputs given from outside. Slow and obvious;
// the arbiter of every other way to run them.
#pragma once

#include "dialects/llm/reference/Caches.h"
#include "dialects/llm/reference/Step.h"
#include "dialects/llm/reference/Weights.h"

namespace llmc::reference {

/// Values by name. A cache value holds what its llm.kv_append wrote: a line [key of all heads,
/// value of all heads] for each row. Views hold nothing.
using Environment = llvm::DenseMap<mlir::Value, Tensor>;

/// Results of a graph; what it does not have stays empty.
struct Outputs {
  Tensor logits;   ///< [O, V]
  Tensor accepted; ///< [S, 2] of i32: drafted tokens accepted, next token
};

class Interpreter {
public:
  /// `module` (verified) and `weights` are borrowed.
  Interpreter(mlir::ModuleOp module, const model::WeightSource &weights)
      : module(module), weights(weights) {}

  /// Runs the graph that carries `llm.graph = graph` ("prefill", "decode", "verify"). After an
  /// error the caches may hold a part of the step: truncate the sequences that took part.
  Result<Outputs> run(llvm::StringRef graph, const Step &step);

  /// Runs one op, or a fused region with all that is in it, on the values in `environment` and the
  /// contents of `caches`, and adds its results there.
  Status evaluate(mlir::Operation *op, Environment &environment, const Step &step, Caches &caches);

  /// Keys and values by cache symbol, sequence handle and slot.
  Caches &caches() { return ownCaches; }

private:
  mlir::ModuleOp module;
  Weights weights;
  Caches ownCaches;
};

/// Prompt as one prefill step, then decode steps, the likeliest token each time (the lowest on
/// ties). Uses and leaves behind the sequence `handle`. Stops after `maxNew` tokens or one of
/// `eos`, which is then the last.
Result<std::vector<int32_t>> greedyGenerate(Interpreter &interpreter,
                                            const std::vector<int32_t> &prompt, int64_t maxNew,
                                            const std::vector<int32_t> &eos, uint64_t handle = 0);

} // namespace llmc::reference
