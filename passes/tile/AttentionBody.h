// SPDX-License-Identifier: Apache-2.0
//
// What the nests of attention share: which keys a row sees and the softmax of one chunk. Their
// operations and the order of these are the same in each nest, so a row has the same bits whichever
// computes it.
#pragma once

#include "passes/tile/AttentionParts.h"

namespace llmc::tiles {

/// Of one query on one chunk of keys, before values are looked at.
struct ChunkWeights {
  mlir::Value maximum, sum, weights;
};

class AttentionBody : public AttentionParts {
public:
  AttentionBody(KernelBuilder &k, llm::AttentionOp attention) : AttentionParts(k), attention(attention) {}

  /// Finds cache and query, and sets the launch's inner count: groups of query heads that share
  /// keys.
  mlir::LogicalResult prepare();

  /// Query head `head` (counted over all) of `row`, times the scale.
  mlir::Value query(mlir::Value row, mlir::Value head);
  /// The keys of a chunk, of the first `keys`, that a row sees; `last` is its own place in it, maybe beyond.
  mlir::Value maskOf(mlir::Value last, int64_t keys = kKeys);
  /// How many values of a chunk such a row reads: 0 where it sees none.
  mlir::Value valuesSeen(mlir::Value last);
  /// The scales of a chunk's keys or values; null where these are no codes. Those of tokens beyond a
  /// row's own may be junk, even NaN: what they touch must be masked or not read afterwards.
  mlir::Value scalesOfCodes(tile::KVPart part, mlir::Value sequence, mlir::Value chunk,
                            mlir::Value head, int64_t keys = kKeys);
  mlir::Value scaled(mlir::Value tile, mlir::Value scales) {
    return scales ? k.mulf(tile, scales) : tile;
  }
  /// Of some queries and the first keys of a chunk, as many as a tile of scores has; `masks` empty: their rows see all keys of the chunk.
  llvm::SmallVector<ChunkWeights> weightsOf(llvm::ArrayRef<mlir::Value> scores, llvm::ArrayRef<mlir::Value> masks);
  Partial empty() { return AttentionParts::empty(kv.getValue()); }

  llm::AttentionOp attention;
  tile::KVType kv;
  mlir::Value cache, rows;    ///< the parameters
  int64_t firstColumn = 0;    ///< of the query in `rows`
  int64_t groups = 1;         ///< programs a row
  int64_t headsTogether = 1;  ///< query heads of a group, which share keys

  mlir::Value kvHead(mlir::Value group) {
    return k.div(group, groups / kv.getHeads());
  }
};

/// The nest for many rows of a sequence.
mlir::LogicalResult buildAttentionOfBlocks(KernelBuilder &k, llm::AttentionOp attention);

} // namespace llmc::tiles
