// SPDX-License-Identifier: Apache-2.0
//
// The op table: which ops, in which shapes, under which schedules, and how far a target may be from the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

struct OpCase {
  std::string name;
  std::string module;    ///< `llm` as text, one graph
  std::string graph;     ///< its kind: "prefill" or "decode"
  std::string fuseNorm;  ///< as PipelineOptions
  std::string schedule;  ///< forced fields, as PipelineOptions
  int64_t rows = 1;      ///< tokens of the step; the last `outputs` of them are wanted
  int64_t outputs = 1;
  int64_t vocabulary = 1;
  double bound = 1e-10;  ///< normalised mean squared error: f32 rounds to 3.6e-15, sums of 130 terms stay below 1e-12
};

std::vector<OpCase> opTable();

} // namespace llmc::test
