// SPDX-License-Identifier: Apache-2.0
//
// The op table: which ops, in which shapes, under which schedules, and how far a target may be from
// the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

struct OpCase {
  std::string name;
  std::string module;   ///< `llm` as text, one graph
  std::string graph;    ///< its kind: "prefill" or "decode"
  std::string fuseNorm; ///< as PipelineOptions
  std::string schedule; ///< forced fields, as PipelineOptions
  int64_t rows = 1;     ///< tokens of the step; the last `outputs` of them are wanted
  int64_t outputs = 1;
  int64_t vocabulary = 1;
  double bound = 1e-12; ///< normalised mean squared error: of f32 sums of up to 130 terms,
                        ///< seen 1.4e-13 at most (acceptance asks 1e-10)
};

std::vector<OpCase> opTable();

} // namespace llmc::test
