// SPDX-License-Identifier: Apache-2.0
//
// Where a compiled model first differs from the reference. The artefact runs command by command;
// after each the same region is evaluated by the reference on what the compiled side had as inputs,
// so errors do not add up along the way and the first command that differs is the one to blame.
#pragma once

#include "tools/llmc/Options.h"
#include "tools/llmc/compiler/Prompt.h"
#include <optional>

namespace llmc::compare {

struct CompareRequest {
  tool::ModelOptions artifact;
  std::string model; ///< what it was compiled from: Hugging Face folder or model.json
  tool::PromptOptions prompt;
  int64_t newTokens = 4;       ///< decode steps
  std::optional<double> bound; ///< relative error allowed everywhere, instead of each op's own
  bool endToEnd = false;       ///< also carry the reference's own values along (CompareDrift.h)
};

/// KL(reference || compiled) of the logits, in nats.
struct Divergence {
  double sum = 0, largest = 0;
  uint64_t rows = 0;
  uint64_t taken = 0; ///< undecided roundings that the reference took from the compiled side
};

/// The worst element of one result.
struct WorstElement {
  double error = 0; ///< relative, see CompareBounds.h
  double bound = 0;
  int64_t row = 0, column = 0;
  float found = 0, expected = 0;
  uint64_t beyond = 0, count = 0; ///< elements beyond the bound, of all
};

struct Difference {
  std::string step;    ///< "prefill, rows 5 to 12"
  std::string graph;   ///< "decode"
  uint32_t number = 0; ///< of the command in its graph
  std::string command; ///< "layers.3.o"
  std::string op;      ///< the op that is most likely to blame: "llm.add"
  std::string why;     ///< why that op; empty: the only one, or the region's main op
  std::string ops;     ///< all ops of the command
  std::string result;  ///< which result: "result 0", "keys of layers.3.kv"
  WorstElement worst;
  std::vector<std::string> notes;
};

struct CompareReport {
  uint32_t steps = 0, commands = 0;
  double largestError = 0, itsBound = 0; ///< of the result that came nearest to its bound
  std::string largestCommand;
  double largestShare = 0; ///< itsError / itsBound
  std::optional<Difference> difference;
  Divergence divergence; ///< with endToEnd
};

/// Stops at the first difference. An error is something that prevents the comparison: another
/// model, a bad prompt.
Result<CompareReport> compareModels(const CompareRequest &request);

} // namespace llmc::compare
