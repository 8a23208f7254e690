// SPDX-License-Identifier: Apache-2.0
// Packs weights: read from a WeightSource a few panels at a time, laid out as the tables say,
// pushed into a sink. Memory is bounded by one block of rows a thread, whatever the model's size;
// what comes out is the same for any number of threads. No LLVM and no MLIR, so tools without the
// compiler can unpack and check hashes.
#pragma once

#include "dialects/model/WeightSource.h"
#include "passes/codegen/artifact/Tables.h"

#include <functional>
#include <map>

namespace llmc::artifact {

// Where packed bytes go, in order, one call at a time, from any thread. A failed write ends the
// packing.
class ByteSink {
public:
  virtual ~ByteSink() = default;
  virtual Status write(const void *data, size_t size) = 0;
};

// Called with packed bytes so far and in all, one call at a time, from any thread.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct PackReport {
  WeightHashes hashes;
  // Canonical name -> XXH64 of what was packed, row by row: values as f32; of groups the codes, and
  // behind them the hashes of scales and minimums.
  std::map<std::string, uint64_t> sources;
  // Canonical name -> what its new format cost, where it was packed in another than it is stored in.
  std::map<std::string, model::RoundingLoss> losses;
};

// The report of weights that are not packed yet: every entry is there, every hash and loss is 0.
PackReport emptyReport(const Tables &tables, const model::WeightSource &source);

// Fails before anything is written where a source is missing or has another shape.
Status checkSources(const Tables &tables, const model::WeightSource &source);

// Writes weightsBytes bytes, zeros between weights included. The first error in the order of the
// weights is returned, and nothing behind its place is written. No threads: as many as suit the
// machine.
Result<PackReport> packWeights(const Tables &tables, const model::WeightSource &source,
                               ByteSink &sink, const Progress &progress, unsigned threads = 0);

// One row of a rope table; `out` has 2 * frequencies.size() elements.
void ropeRow(const RopeTable &table, uint64_t position, float *out);

} // namespace llmc::artifact
