// SPDX-License-Identifier: Apache-2.0
// An open model: a checked artefact, the level in use and its weights. Immutable once made, shared
// by threads, counted.
#pragma once

#include "llmc/abi.h"
#include "runtime/engine/Context.h"

namespace llmc::text {
class Tokenizer;
}

struct llmc_model {
  explicit llmc_model(llmc_context &context) : context(context) { context.retain(); }
  ~llmc_model();

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // Index of the first graph of a kind, or n_graphs.
  uint32_t graphOf(llmc_graph_kind kind) const;

  llmc_context &context;
  const llmc_artifact *artifact = nullptr;
  uint32_t level = 0;
  const void *weights = nullptr; // NULL for a model without any
  void *library = nullptr;       // from dlopen, or NULL for a linked model
  void *weightsMap = nullptr;    // a separate weights file
  size_t weightsMapBytes = 0;
  void *copy = nullptr; // of the weights, for LLMC_WEIGHTS_COPY
  size_t copyBytes = 0;
  llmc::text::Tokenizer *tokenizer = nullptr; // NULL for a model without one

private:
  std::atomic<uint32_t> references{1};
};

namespace llmc {

// Maps the separate weights file of `model`. `given` is the caller's path or NULL, `modelPath` that
// of the artefact or NULL.
llmc_status mapWeightsFile(llmc_model &model, const char *modelPath, const char *given,
                           llmc_error *error);

// Puts a copy of the weights in place of the mapped ones.
llmc_status copyWeights(llmc_model &model, const char *file, llmc_error *error);

// Takes the last level that the processor can run; the error names what it lacks for the least
// demanding one.
llmc_status chooseLevel(llmc_model &model, const char *file, llmc_error *error);

} // namespace llmc
