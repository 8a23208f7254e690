// SPDX-License-Identifier: Apache-2.0
// `llmc explain`: what steps of a model cost and what binds them on a named machine. The numbers
// come from a compiled model's manifest, or from the compiler for a model that is not compiled;
// from there on both are the same.
#pragma once

#include "dialects/model/Error.h"
#include "passes/cost/CostTerms.h"
#include <cstdint>
#include <optional>

namespace llmc::tool {

struct ExplainOptions {
  std::string path;
  std::string phase;                    // prefill, decode or verify; "": all of them
  std::optional<uint32_t> promptLength; // new tokens of a sequence in prefill
  std::optional<uint32_t> depth;        // tokens that a sequence holds before the step
  uint32_t batch = 1;
  std::string machine = "zen4-2";
  bool perLayer = false; // every layer's rows instead of their sums
  bool json = false;
  // As for llmc compile, whose defaults hold where these are empty; a model.so has them behind it.
  // compiles: one of them was given.
  std::string quant, kv, target;
  int64_t maxSequence = 0;
  bool compiles = false;
};

// What the options mean where they are not given, in a model that is long enough.
constexpr uint32_t kDefaultPrompt = 256, kDefaultDepth = 1024; // prefill: depth 0
// New tokens of a sequence in a verify step, as the graph is planned for.
constexpr uint32_t kVerifyTokens = 4;

// Exact sizes, in bytes.
struct ExplainedMemory {
  uint64_t weights = 0;
  uint64_t rowsArena = 0;    // for each row of a step
  uint64_t outputsArena = 0; // for each row of logits
  uint64_t chunk = 0;        // keys and values of 64 tokens, all layers
};

struct ExplainedModel {
  std::string path;
  std::vector<cost::RegionTerms> regions;
  ExplainedMemory memory;
  uint32_t maxPositions = 0;
};

// The manifest's table, {"graph": "decode", "name": ..., "terms": {...}} a row, and back.
std::string termsToJson(const std::vector<cost::RegionTerms> &regions);
Result<std::vector<cost::RegionTerms>> termsFromJson(std::string_view manifest,
                                                     const std::string &path);

// The step of a phase, or an error that names the option at fault.
Result<llm::StepShape> stepOf(const ExplainOptions &options, const std::string &phase,
                              uint32_t maxPositions);

// Prints tables, or JSON.
Status explain(const ExplainedModel &model, const ExplainOptions &options);

// `llmc explain M.so`.
Status explainArtifact(const ExplainOptions &options);

} // namespace llmc::tool
