// SPDX-License-Identifier: Apache-2.0
//
// What the nests of attention share: which keys a row sees, the softmax of one chunk, and how
// partial results merge. Their operations and the order of these are the same in each nest, so a
// row has the same bits whichever computes it.
#pragma once

#include "passes/tile/KernelBuilder.h"

namespace llmc::tiles {

/// Of one query: maximum, sum of exponentials, and their weighted sum of values.
struct Partial {
  mlir::Value maximum, sum, output;
};

/// Of one query on one chunk of keys, before values are looked at.
struct ChunkWeights {
  mlir::Value maximum, sum, weights;
};

/// What each side of a merge is multiplied by.
struct MergeScales {
  mlir::Value maximum, first, second;
};

/// A span of chunks, `end` not included.
struct Span {
  mlir::Value begin, end;
};

class AttentionBody {
public:
  static constexpr int64_t kKeys = tile::KVType::kChunk;

  AttentionBody(KernelBuilder &k, llm::AttentionOp attention) : k(k), attention(attention) {}

  /// Finds cache and query, and sets the launch's inner count: groups of query heads that share
  /// keys.
  mlir::LogicalResult prepare();

  /// Query head `head` (counted over all) of `row`, times the scale.
  mlir::Value query(mlir::Value row, mlir::Value head);
  /// Part `part` of the chunks that a row at `position` of its sequence looks at. Equal for all
  /// positions of a chunk, so rows that are computed together agree on it.
  Span spanOf(mlir::Value position, mlir::Value part);
  /// The keys of a chunk that a row sees; `last` is its own place in it, maybe beyond.
  mlir::Value maskOf(mlir::Value last);
  /// How many values of a chunk such a row reads: 0 where it sees none.
  mlir::Value valuesSeen(mlir::Value last);
  /// `mask` null: the row sees all keys of the chunk.
  ChunkWeights weightsOf(mlir::Value scores, mlir::Value mask);
  MergeScales scalesOf(mlir::Value first, mlir::Value second);
  mlir::Value mergedSum(const MergeScales &scales, mlir::Value first, mlir::Value second) {
    return k.fma(first, scales.first, k.mulf(second, scales.second));
  }
  mlir::Value mergedOutput(const MergeScales &scales, mlir::Value first, mlir::Value second);
  Partial merge(const Partial &first, const Partial &second);
  Partial empty();
  /// The output over the sum.
  mlir::Value resultOf(const Partial &all);

  KernelBuilder &k;
  llm::AttentionOp attention;
  tile::KVType kv;
  mlir::Value cache, rows;    ///< the parameters
  int64_t firstColumn = 0;    ///< of the query in `rows`
  int64_t window = 0;         ///< 0: none
  int64_t groups = 1;         ///< programs a row
  int64_t headsTogether = 1;  ///< query heads of a group, which share keys
  int64_t parts = 1;          ///< of a row's keys, folded each by itself and then from left to right

  mlir::Value kvHead(mlir::Value group) {
    return k.div(group, groups / kv.getHeads());
  }
};

/// The nest for many rows of a sequence.
mlir::LogicalResult buildAttentionOfBlocks(KernelBuilder &k, llm::AttentionOp attention);

} // namespace llmc::tiles
