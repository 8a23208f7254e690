// SPDX-License-Identifier: Apache-2.0
//
// Attention for many rows of a sequence: a program takes up to `row_tile` consecutive rows and goes
// over the keys once for all of them. Queries, weights and partial results lie in scratch and are
// worked through a few at a time. A block of rows
// begins where `row_tile` divides the position, so no block reaches into two chunks; programs of
// the other rows do nothing. Each row has its own mask and its own count of values, so whoever
// shares a block does not touch its bits.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/tile/AttentionBody.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::llm;
using namespace llmc::tiles;

namespace {

/// Queries that are multiplied at a time: with 64 keys, their sums fill the registers of AVX-512.
constexpr int64_t kTogether = 6;
/// Queries whose scores become weights at a time: each is a chain of instructions that wait for each other. Divides kTogether.
constexpr int64_t kSoftmaxTogether = 2;
/// Queries whose maxima and sums merge at a time.
constexpr int64_t kMergeTile = 16;

/// Partial results of all queries of a block, in scratch.
struct State {
  Value maximum, sum, output;
};

class RowBlocks : AttentionBody {
public:
  using AttentionBody::AttentionBody;

  LogicalResult build() {
    if (failed(prepare()))
      return failure();
    rowTile = k.schedule.getRowTile();
    if (!llvm::isPowerOf2_64(uint64_t(rowTile)) || rowTile > kKeys)
      return attention.emitError() << "expects a row_tile that is a power of two up to " << kKeys
                                   << ", found " << rowTile;
    firstRow = k.programId(tile::Axis::Line);
    group = k.programId(tile::Axis::Inner);
    target = k.output(attention.getResult());
    auto branch = scf::IfOp::create(k.body, k.loc, isFirstOfBlock(), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(k.body);
    k.body.setInsertionPointToStart(branch.thenBlock());
    block();
    return success();
  }

private:
  //===--- Which rows ---------------------------------------------------------------------===//

  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return arith::CmpIOp::create(k.body, k.loc, how, a, b);
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(k.body, k.loc, a, b); }

  /// Whether `row` is of the sequence of `before`, `distance` positions on.
  Value follows(Value row, Value before, Value distance) {
    auto same = [&](tile::Field field, Value apart) {
      return compare(arith::CmpIPredicate::eq, k.read(field, row),
                     k.add(k.read(field, before), apart));
    };
    return both(same(tile::Field::RowSequence, k.index(0)), same(tile::Field::Positions, distance));
  }

  Value startsTile(Value position) {
    return compare(arith::CmpIPredicate::eq, k.rem(position, rowTile), k.index(0));
  }

  Value isFirstOfBlock() {
    Value one = k.index(1);
    Value before = k.sub(arith::MaxSIOp::create(k.body, k.loc, firstRow, one), one);
    Value goesOn = follows(firstRow, before, one); // row 0 does not follow itself
    Value starts = startsTile(k.read(tile::Field::Positions, firstRow));
    Value isNew = arith::XOrIOp::create(
        k.body, k.loc, goesOn,
        arith::ConstantOp::create(k.body, k.loc, k.body.getBoolAttr(true)));
    return arith::OrIOp::create(k.body, k.loc, isNew, starts);
  }

  /// Rows from the first on that belong to the block.
  Value countRows(Value first) {
    Value lastRow = k.sub(k.extent(tile::Extent::Rows), k.index(1));
    Value start = k.read(tile::Field::Positions, first);
    Value yes = arith::ConstantOp::create(k.body, k.loc, k.body.getBoolAttr(true));
    return k.loop(k.index(1), k.index(rowTile), 1, {k.index(1), yes},
                  [&](Value distance, ValueRange carried) {
                    Value row = k.minimum(k.add(first, distance), lastRow);
                    Value inTile = compare(
                        arith::CmpIPredicate::ne,
                        k.rem(k.add(start, distance), rowTile), k.index(0));
                    Value more = both(both(carried[1], inTile), follows(row, first, distance));
                    Value count = arith::SelectOp::create(
                        k.body, k.loc, more, k.add(carried[0], k.index(1)), carried[0]);
                    return SmallVector<Value>{count, more};
                  })
        .front();
  }

  //===--- The block ----------------------------------------------------------------------===//

  void block() {
    sequence = k.read(tile::Field::RowSequence, firstRow);
    position = positionOf(firstRow);
    queryCount = k.mul(countRows(firstRow), headsTogether);
    lastQuery = k.sub(queryCount, k.index(1));
    int64_t most = llvm::alignTo(rowTile * headsTogether, kTogether),
            numbers = llvm::alignTo(most, kMergeTile);
    paddedCount = k.mul(k.div(k.add(queryCount, k.index(kTogether - 1)), kTogether), kTogether);
    Type f32 = k.body.getF32Type();
    queries = k.scratch({most, kv.getKey()}, f32);
    weights = k.scratch({most, kKeys}, f32);
    for (Value *view : {&chunkMaximum, &chunkSum, &firstScale, &secondScale})
      *view = k.scratch({numbers}, f32);
    if (kv.getTokenMajor())
      columns = k.scratch({kv.getKey(), kKeys}, f32);
    auto makeState = [&]() -> State {
      return {k.scratch({numbers}, f32), k.scratch({numbers}, f32),
              k.scratch({most, kv.getValue()}, f32)};
    };
    State all = makeState();
    takeQueries();
    clear(all);
    if (parts == 1)
      overChunks(spanOf(position, k.index(0)), all);
    else
      overParts(all, makeState());
    each(queryCount, [&](Value query) { storeResult(all, query); });
  }

  void each(Value count, function_ref<void(Value)> body, int64_t step = 1) {
    k.loop(k.index(0), count, step, {}, [&](Value index, ValueRange) {
      body(index);
      return SmallVector<Value>();
    });
  }

  void clear(const State &state) {
    Partial nothing = empty();
    each(paddedCount, [&](Value query) { store(state, query, nothing); });
  }

  void store(const State &state, Value query, const Partial &partial) {
    k.store(partial.maximum, state.maximum, {query});
    k.store(partial.sum, state.sum, {query});
    k.store(partial.output, state.output, {query, k.index(0)});
  }

  Partial load(const State &state, Value query) {
    return {k.loadScalar(state.maximum, {query}), k.loadScalar(state.sum, {query}),
            k.load(state.output, {query, k.index(0)}, kv.getValue())};
  }

  /// Queries lie row by row; what fills up the last few that go together repeats the last.
  Value rowOf(Value query) { return k.div(k.minimum(query, lastQuery), headsTogether); }
  Value headOf(Value query) {
    return k.add(k.mul(group, headsTogether), k.rem(k.minimum(query, lastQuery), headsTogether));
  }
  /// The place of the query's row in the chunk that starts at `start`.
  Value lastOf(Value query, Value start) { return k.sub(k.add(position, rowOf(query)), start); }

  void takeQueries() {
    each(paddedCount, [&](Value index) {
      k.store(query(k.add(firstRow, rowOf(index)), headOf(index)), queries, {index, k.index(0)});
    });
  }

  void storeResult(const State &all, Value query) {
    k.store(resultOf(load(all, query)), target,
            {k.add(firstRow, rowOf(query)), k.mul(headOf(query), kv.getValue())});
  }

  void overParts(const State &all, const State &part) {
    each(countOf(position), [&](Value index) {
      clear(part);
      overChunks(spanOf(position, index), part);
      each(queryCount,
           [&](Value query) { store(all, query, merge(load(all, query), load(part, query))); });
    });
  }

  void overChunks(Span span, const State &state) {
    k.loop(span.begin, span.end, 1, {}, [&](Value chunk, ValueRange) {
      Value start = k.mul(chunk, kKeys), head = kvHead(group);
      weightsOfChunk(chunk, start);
      each(paddedCount, [&](Value first) { mergeSums(state, first); }, kMergeTile);
      outputs(k.chunk(tile::KVPart::Value, cache, sequence, chunk, head), state, start);
      return SmallVector<Value>();
    });
  }

  //===--- One chunk ----------------------------------------------------------------------===//

  /// Keys as columns: as they lie, or turned where a token's elements lie side by side.
  Value keysOf(Value chunk) {
    using LineOf = KernelBuilder::LineOf;
    Value keys = k.chunk(tile::KVPart::Key, cache, sequence, chunk, kvHead(group), LineOf::Element);
    if (!kv.getTokenMajor())
      return keys;
    each(k.index(kv.getKey()), [&](Value element) {
      each(k.index(kKeys), [&](Value token) {
        k.store(k.loadScalar(keys, {element, token}), columns, {element, token});
      });
    });
    return columns;
  }

  /// Most chunks lie wholly before the block: there is no mask. Of the last one only what a row of the block may see is looked at:
  /// beyond, weights are 0, and a sum of lanes in halves is the same without them.
  void weightsOfChunk(Value chunk, Value start) {
    Value keys = keysOf(chunk);
    auto whole = [&] { weightsOfKeys(keys, chunk, Value(), kKeys); };
    auto masked = [&] { weightsOfKeys(keys, chunk, start, kKeys); };
    auto half = [&] { weightsOfKeys(keys, chunk, start, kKeys / 2); };
    if (window > 0)
      return masked();
    Value before = k.sub(position, start), reach = k.add(before, k.index(rowTile));
    choose(compare(arith::CmpIPredicate::sge, before, k.index(kKeys - 1)), whole, [&] {
      if (rowTile > kKeys / 2)
        return masked();
      choose(compare(arith::CmpIPredicate::sle, reach, k.index(kKeys / 2)), half, masked);
    });
  }

  void choose(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
    auto branch = scf::IfOp::create(k.body, k.loc, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(k.body);
    k.body.setInsertionPointToStart(branch.thenBlock());
    then();
    k.body.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }

  /// Of the first `count` keys; `start` of the chunk null: all rows see all of them.
  void weightsOfKeys(Value keys, Value chunk, Value start, int64_t count) {
    auto scalesOf = [&](tile::KVPart part) { return scalesOfCodes(part, sequence, chunk, kvHead(group), count); };
    Value keyScales = scalesOf(tile::KVPart::KeyScale), valueScales = scalesOf(tile::KVPart::ValueScale);
    SmallVector<Value> zeros(kTogether, k.filled(count, 0));
    each(paddedCount, [&](Value first) {
      SmallVector<Value> rows = rowsOf(queries, first, kv.getKey());
      for (auto [i, tile] : llvm::enumerate(k.dot(rows, k.matrix(keys, count), zeros)))
        k.store(scaled(tile, keyScales), weights, {k.add(first, k.index(int64_t(i))), k.index(0)});
    }, kTogether);
    each(paddedCount, [&](Value first) {
      SmallVector<Value> queries = linesFrom(k, first, kSoftmaxTogether), scores, masks;
      for (Value query : queries) {
        scores.push_back(k.load(weights, {query, k.index(0)}, count));
        if (start)
          masks.push_back(maskOf(lastOf(query, start), count));
      }
      for (auto [query, own] : llvm::zip(queries, weightsOf(scores, masks))) {
        k.store(scaled(own.weights, valueScales), weights, {query, k.index(0)});
        k.store(own.maximum, chunkMaximum, {query});
        k.store(own.sum, chunkSum, {query});
      }
    }, kSoftmaxTogether);
  }

  SmallVector<Value> rowsOf(Value view, Value first, int64_t width) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < kTogether; ++i)
      rows.push_back(k.load(view, {k.add(first, k.index(i)), k.index(0)}, width));
    return rows;
  }

  /// Maxima and sums of kMergeTile queries, and what their outputs are to be multiplied by.
  void mergeSums(const State &state, Value first) {
    auto load = [&](Value view) { return k.load(view, {first}, kMergeTile); };
    MergeScales scales = scalesOf(load(state.maximum), load(chunkMaximum));
    k.store(mergedSum(scales, load(state.sum), load(chunkSum)), state.sum, {first});
    k.store(scales.maximum, state.maximum, {first});
    k.store(scales.first, firstScale, {first});
    k.store(scales.second, secondScale, {first});
  }

  void outputs(Value values, const State &state, Value start) {
    SmallVector<Value> zeros(kTogether, k.filled(kv.getValue(), 0));
    each(paddedCount, [&](Value first) {
      SmallVector<Value> seen;
      for (int64_t i = 0; i < kTogether; ++i)
        seen.push_back(valuesSeen(lastOf(k.add(first, k.index(i)), start)));
      SmallVector<Value> rows = rowsOf(weights, first, kKeys);
      for (auto [i, added] : llvm::enumerate(k.dot(rows, k.matrix(values), zeros, seen))) {
        Value query = k.add(first, k.index(int64_t(i)));
        MergeScales scales = {Value(), k.loadScalar(firstScale, {query}),
                              k.loadScalar(secondScale, {query})};
        Value before = k.load(state.output, {query, k.index(0)}, kv.getValue());
        k.store(mergedOutput(scales, before, added), state.output, {query, k.index(0)});
      }
    }, kTogether);
  }

  int64_t rowTile = 1;
  Value firstRow, group, target, sequence, position;
  Value queryCount, lastQuery, paddedCount;
  Value queries, weights, chunkMaximum, chunkSum, firstScale, secondScale, columns; ///< scratch
};

} // namespace

LogicalResult tiles::buildAttentionOfBlocks(KernelBuilder &k, AttentionOp attention) {
  return RowBlocks(k, attention).build();
}
