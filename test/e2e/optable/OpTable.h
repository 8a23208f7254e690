// SPDX-License-Identifier: Apache-2.0
//
// The op table: which ops, in which shapes, under which schedules, and how far a target may be from
// the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

/// What the weights of a case hold.
enum class CaseWeights {
  Hashed,   ///< numbers by name and place
  Extremes, ///< the least and the greatest code of each group, in patterns; rows of -1 and 1
};

struct OpCase {
  std::string name;
  std::string module;   ///< `llm` as text, one graph
  std::string graph;    ///< its kind: "prefill" or "decode"
  std::string fuseNorm; ///< as PipelineOptions
  std::string schedule; ///< forced fields, as PipelineOptions
  std::string kv = "auto"; ///< as PipelineOptions
  int64_t rows = 1;     ///< tokens of the step; the last `outputs` of them are wanted
  int64_t outputs = 1;
  int64_t vocabulary = 1;
  double bound = 1e-12; ///< normalised mean squared error: of f32 sums of up to 130 terms,
                        ///< seen 1.4e-13 at most (acceptance asks 1e-10)
  std::string target = "cpu:x86-64-v3"; ///< whose schedule the block programs have
  CaseWeights weights = CaseWeights::Hashed;
  bool onPtx = true; ///< whether it runs as PTX too
};

std::vector<OpCase> opTable();
/// Weights in groups or 16-bit floats, and rows in groups.
std::vector<OpCase> quantizedTable();
/// One model of mixed formats with 1 to `most` rows, row tiles of 4.
std::vector<OpCase> rowCounts(int64_t most);
/// Products as large as codes can make them: no level's instructions may saturate.
std::vector<OpCase> extremesTable();

} // namespace llmc::test
