// SPDX-License-Identifier: Apache-2.0
//
// Partial results of attention: which chunks of a row's keys a part takes, and how results merge.
// Whoever merges, in the kernel that attends or in one after it, does the same operations in the
// same order.
#pragma once

#include "passes/tile/KernelBuilder.h"

namespace llmc::tiles {

/// Below every score that a model can have, and finite: exp of its distance to itself must be 1, not NaN.
constexpr double kEmptyMaximum = -1.0e30;

/// Of one query: maximum, sum of exponentials, and their weighted sum of values.
struct Partial {
  mlir::Value maximum, sum, output;
};

/// What each side of a merge is multiplied by.
struct MergeScales {
  mlir::Value maximum, first, second;
};

/// A span of chunks, `end` not included.
struct Span {
  mlir::Value begin, end;
};

class AttentionParts {
public:
  static constexpr int64_t kKeys = tile::KVType::kChunk;

  explicit AttentionParts(KernelBuilder &k) : k(k) {}

  /// Place of a row in its sequence, whose slots are counted from 0.
  mlir::Value positionOf(mlir::Value row);
  /// Part `part` of the chunks that a row at `position` of its sequence looks at; empty beyond the
  /// last part that has some. Equal for all positions of a chunk, so rows that are computed
  /// together agree on it.
  Span spanOf(mlir::Value position, mlir::Value part);
  /// How many parts have chunks.
  mlir::Value countOf(mlir::Value position);

  MergeScales scalesOf(mlir::Value first, mlir::Value second);
  mlir::Value mergedSum(const MergeScales &scales, mlir::Value first, mlir::Value second) {
    return k.fma(first, scales.first, k.mulf(second, scales.second));
  }
  mlir::Value mergedOutput(const MergeScales &scales, mlir::Value first, mlir::Value second);
  Partial merge(const Partial &first, const Partial &second);
  /// Of no keys; the output is `width` wide.
  Partial empty(int64_t width);
  /// The output over the sum.
  mlir::Value resultOf(const Partial &all);

  KernelBuilder &k;
  int64_t window = 0; ///< 0: none
  int64_t parts = 1;  ///< of a row's keys, folded each by itself and then from left to right

private:
  Span wholeSpan(mlir::Value position);
  mlir::Value chunksOfPart(const Span &whole);
};

/// Columns `column` ... of a row of `llm.attention_merge`, all of one head.
mlir::Value mergedTile(KernelBuilder &k, llm::AttentionMergeOp merge, mlir::Value line, mlir::Value column,
                       int64_t width);

} // namespace llmc::tiles
