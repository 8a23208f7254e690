// SPDX-License-Identifier: Apache-2.0
//
// Attention, one program for each row and group of query heads that share keys, and for each part of
// these where partial results leave. Keys are reduced in
// chunks of 64 logical positions: every chunk yields its own (max, sum, output) from an empty state,
// and partials merge by a left fold in logical order, so the bits depend on the row's position
// alone. Chunks that no row of the same chunk sees would be the identity of the fold; they are not
// visited.
#include "passes/graph/Regions.h"
#include "passes/tile/AttentionBody.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

class SingleRows : AttentionBody {
public:
  using AttentionBody::AttentionBody;

  LogicalResult build() {
    if (failed(prepare()))
      return failure();
    Value row = k.programId(tile::Axis::Line), program = k.programId(tile::Axis::Inner);
    Value group = program, part;
    if (attention.leavesParts()) { // of a group one after the other: their keys are neighbours
      k.launch.inner *= parts;
      group = k.div(program, parts);
      part = k.rem(program, parts);
    }
    sequence = k.read(tile::Field::RowSequence, row);
    position = positionOf(row);
    ownKVHead = kvHead(group);
    Value firstHead = k.mul(group, headsTogether);
    for (int64_t i = 0; i < headsTogether; ++i)
      queries.push_back(query(row, k.add(firstHead, k.index(i))));
    Value target = k.output(attention.getResult());
    if (part) {
      storePart(overChunks(spanOf(position, part)), target, row, part, firstHead);
      return success();
    }
    SmallVector<Partial> all = overParts();
    for (auto [i, partial] : llvm::enumerate(all)) {
      Value column = k.mul(k.add(firstHead, k.index(int64_t(i))), kv.getValue());
      k.store(resultOf(partial), target, {row, column});
    }
    return success();
  }

private:
  void storePart(ArrayRef<Partial> of, Value target, Value row, Value part, Value firstHead) {
    const PartialRow at = attention.getPartialRow();
    for (auto [i, partial] : llvm::enumerate(of)) {
      Value index = k.add(k.mul(part, at.heads), k.add(firstHead, k.index(int64_t(i))));
      Value hasKeys = arith::CmpFOp::create(k.body, k.loc, arith::CmpFPredicate::OGT, partial.sum, k.scalar(0));
      Value maximum = arith::SelectOp::create(k.body, k.loc, hasKeys, partial.maximum, k.scalar(0));
      k.store(partial.output, target, {row, k.mul(index, at.value)});
      k.store(maximum, target, {row, k.add(index, k.index(at.maxima()))});
      k.store(partial.sum, target, {row, k.add(index, k.index(at.sums()))});
    }
  }

  SmallVector<Partial> overParts() {
    if (parts == 1)
      return overChunks(spanOf(position, k.index(0)));
    return fold(k.index(0), countOf(position), [&](Value part) {
      return overChunks(spanOf(position, part));
    });
  }

  SmallVector<Partial> overChunks(Span span) {
    return fold(span.begin, span.end, [&](Value chunk) { return ofChunk(chunk); });
  }

  /// What `partialsOf` yields for begin, begin + 1, ..., merged from left to right.
  SmallVector<Partial> fold(Value begin, Value end,
                            function_ref<SmallVector<Partial>(Value)> partialsOf) {
    SmallVector<Value> start = flat(SmallVector<Partial>(queries.size(), empty()));
    return partials(k.loop(begin, end, 1, start, [&](Value index, ValueRange state) {
      SmallVector<Partial> before = partials(state), next = partialsOf(index);
      for (auto [sum, partial] : llvm::zip(before, next))
        sum = merge(sum, partial);
      return flat(before);
    }));
  }

  static SmallVector<Value> flat(ArrayRef<Partial> of) {
    SmallVector<Value> values;
    for (const Partial &partial : of)
      values.append({partial.maximum, partial.sum, partial.output});
    return values;
  }

  static SmallVector<Partial> partials(ValueRange values) {
    SmallVector<Partial> of;
    for (size_t i = 0; i < values.size(); i += 3)
      of.push_back({values[i], values[i + 1], values[i + 2]});
    return of;
  }

  SmallVector<Partial> ofChunk(Value chunk) {
    Value last = k.sub(position, k.mul(chunk, kKeys)), mask = maskOf(last);
    Value keyScales = scalesOfCodes(tile::KVPart::KeyScale, sequence, chunk, ownKVHead),
          valueScales = scalesOfCodes(tile::KVPart::ValueScale, sequence, chunk, ownKVHead);
    SmallVector<Value> scores = scoresOf(chunk), weights;
    for (Value &tile : scores)
      tile = scaled(tile, keyScales);
    SmallVector<ChunkWeights> chunkWeights = weightsOf(scores, SmallVector<Value>(scores.size(), mask));
    for (const ChunkWeights &of : chunkWeights)
      weights.push_back(scaled(of.weights, valueScales));
    Value values = k.matrix(k.chunk(tile::KVPart::Value, cache, sequence, chunk, ownKVHead));
    SmallVector<Value> zeros(queries.size(), k.filled(kv.getValue(), 0));
    SmallVector<Value> outputs =
        streamed(k.dot(weights, values, zeros, valuesSeen(last)));
    SmallVector<Partial> all;
    for (auto [of, output] : llvm::zip(chunkWeights, outputs))
      all.push_back({of.maximum, of.sum, output});
    return all;
  }

  /// Keys in lanes, one chain along the head's width for each: keys as columns are multiplied as
  /// they lie.
  SmallVector<Value> scoresOf(Value chunk) {
    using LineOf = KernelBuilder::LineOf;
    SmallVector<Value> zeros(queries.size(), k.filled(kKeys, 0));
    LineOf line = kv.getTokenMajor() ? LineOf::Token : LineOf::Element;
    Value keys =
        k.matrix(k.chunk(tile::KVPart::Key, cache, sequence, chunk, ownKVHead, line));
    return streamed(kv.getTokenMajor() ? k.dotTransposed(queries, keys, zeros)
                                       : k.dot(queries, keys, zeros));
  }

  /// What a dot reads is read once: a target may fetch what comes next meanwhile.
  SmallVector<Value> streamed(SmallVector<Value> results) {
    results.front().getDefiningOp()->setAttr("tile.streamed", k.body.getUnitAttr());
    return results;
  }

  Value sequence, position, ownKVHead;
  SmallVector<Value> queries;
};

} // namespace

LogicalResult tiles::buildAttention(KernelBuilder &k) {
  AttentionOp attention = graph::findIn<AttentionOp>(k.region);
  for (Operation &op : k.region.getBody().front().without_terminator())
    if (!isa<KVViewOp, AttentionOp, SplitOp>(op))
      return op.emitError() << "no attention kernel holds '" << op.getName() << "'";
  // Parts leave where rows are one a sequence: a block of up to `row_tile` rows has one.
  return k.schedule.getRowTile() > 1 && !attention.leavesParts() ? buildAttentionOfBlocks(k, attention)
                                                                 : SingleRows(k, attention).build();
}
