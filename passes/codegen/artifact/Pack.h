// SPDX-License-Identifier: Apache-2.0
// Packs weights: read from a WeightSource a few panels at a time, laid out as the tables say,
// pushed into a sink. Memory is bounded by one block of rows, whatever the model's size. No LLVM
// and no MLIR, so tools without the compiler can unpack and check hashes.
#pragma once

#include "dialects/model/WeightSource.h"
#include "passes/codegen/artifact/Tables.h"

#include <functional>
#include <map>

namespace llmc::artifact {

// Where packed bytes go, in order. A failed write ends the packing.
class ByteSink {
public:
  virtual ~ByteSink() = default;
  virtual Status write(const void *data, size_t size) = 0;
};

// Called with packed bytes so far and in all.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct PackReport {
  WeightHashes hashes;
  std::map<std::string, uint64_t>
      sources; // canonical name -> XXH64 of its values as f32, row by row
};

// The report of weights that are not packed yet: every entry is there, every hash is 0.
PackReport emptyReport(const Tables &tables);

// Fails before anything is written where a source is missing or has another shape.
Status checkSources(const Tables &tables, const model::WeightSource &source);

// Writes weightsBytes bytes, zeros between weights included.
Result<PackReport> packWeights(const Tables &tables, const model::WeightSource &source,
                               ByteSink &sink, const Progress &progress);

// One row of a rope table; `out` has 2 * frequencies.size() elements.
void ropeRow(const RopeTable &table, uint64_t position, float *out);

// numRows rows of `columns` elements to panels of panelRows rows; the last panel is filled with
// zeros.
void packPanels(const float *rows, uint64_t numRows, uint64_t columns, uint64_t panelRows,
                float *out);

// The rows of a packed weight, row-major, whatever its layout; `out` has rows * columns elements.
void unpack(const PackedWeight &weight, const float *packed, float *out);

} // namespace llmc::artifact
