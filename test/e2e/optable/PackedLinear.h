// SPDX-License-Identifier: Apache-2.0
//
// A linear with int4 or int8 weights in groups of 32, as a block program of the spike's form
// (tools/bench/spike/spike.mlir), for any number of rows and columns: the layout pads both.
#pragma once

#include "test/e2e/optable/BlockPrograms.h"

namespace llmc::test {

/// Letters as elsewhere: N columns of the result, K summed over.
struct PackedLinear {
  int64_t rows, n, k;
  int bits; ///< 4 or 8

  int64_t panels() const { return (n + 31) / 32; }
  int64_t groups() const { return (k + 31) / 32; }
  uint32_t programs() const { return uint32_t(rows * panels()); }
  std::string name() const;

  /// Kernel @linear of a grid (rows, panels).
  std::string source() const;
  /// Bytes of the rows, their scales, what undoes the weights' bias; the weights; the result, NaN,
  /// with a few elements behind it. Junk where K is padded in the weights and N anywhere.
  Buffers buffers() const;
  /// The result of the unpacked numbers, in f64: rows x N.
  std::vector<double> expected() const;
};

/// Behind the result, nobody's.
constexpr size_t kGuard = 40;

/// How the result differs from the reference (normalised mean squared error above the op table's
/// bound), or what else was written; empty: not at all.
std::string findingIn(const PackedLinear &linear, const Buffers &written, double *error = nullptr);

} // namespace llmc::test
