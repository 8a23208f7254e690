// SPDX-License-Identifier: Apache-2.0
// What a region costs as a formula of the step's shape, so that an artefact can say what any step
// should cost, not only the one that it was planned for. Plain numbers, no MLIR.
#pragma once

#include "dialects/llm/LLMCost.h"
#include "passes/cost/Machines.h"

namespace llmc::cost {

// fixed + perRow * rows + perOutput * outputs + perSequence * sequences + perKey * keys that the
// rows see, summed + perContext * keys that the sequences hold and see, summed. Weights are mostly
// `fixed`, linears perRow, attention's FLOPs perKey and its reads of the cache perContext.
struct CostTerms {
  llm::OpCost fixed, perRow, perOutput, perSequence, perKey, perContext;
  int64_t window = 0; // keys that a row sees at most; 0: all before it
};

bool operator==(const llm::OpCost &left, const llm::OpCost &right);
bool operator==(const CostTerms &left, const CostTerms &right);

llm::OpCost costOf(const CostTerms &terms, const llm::StepShape &shape);

// A row of the table that the manifest carries.
struct RegionTerms {
  std::string graph; // prefill, decode, verify
  std::string name;  // "layers.3.qkv"
  std::string kind;  // linear, attention, ...
  Arithmetic arithmetic = Arithmetic::F32;
  CostTerms terms;
};

} // namespace llmc::cost
