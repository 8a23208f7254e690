// SPDX-License-Identifier: Apache-2.0
//
// One register block of a `tile.dot`: sums of some rows and columns, over all of K.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/codegen/cpu/KernelLowering.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::cpu;
using namespace llmc::tile;

/// Steps of K written out in a loop body: enough to hide the loop's own instructions.
static constexpr int64_t kUnroll = 4;
/// Where what comes next is fetched: LLVM gathers the fetches of a loop's body, and a core waits when
/// it sends out more at once than it can have on their way.
static constexpr int64_t kUnrollWithFetches = 2;

static int64_t depthOf(DotOp op) {
  return cast<RankedTensorType>(op.getRows().front().getType()).getDimSize(0);
}

/// Two registers of bf16 columns are one of words, whose low halves are the even columns and whose
/// high halves the odd ones: one instruction extends each. So sums of the two hold even and odd
/// columns until all of K is done.
static bool comesInPairs(const DotBlock &block, int64_t lanes) {
  return matrixElement(block.op).isBF16() && block.widths.size() % 2 == 0 &&
         llvm::all_of(block.widths, [&](int64_t width) { return width == lanes; });
}

/// Bytes from what a dot reads to what is read after it: values follow the keys of a chunk, and
/// the next chunk's keys mostly lie a block behind these. 0 where it does not say so.
static int64_t distanceToNext(DotOp op) {
  auto chunk = op.getMatrix().getDefiningOp<LoadOp>().getView().getDefiningOp<KVChunkOp>();
  if (!op->hasAttr("tile.streamed") || !chunk)
    return 0;
  KVType kv = chunk.getKv().getType();
  if (kv.getTokenMajor() || kv.getKey() != kv.getValue())
    return 0;
  return chunk.getPart() == KVPart::Key ? kv.getKeyBytes() : kv.getBlock() - kv.getKeyBytes();
}

/// Elements from, from + 2, ... of two vectors end to end.
Value KernelLowering::everyOther(Value a, Value b, int64_t from) {
  int64_t width = cast<VectorType>(a.getType()).getDimSize(0);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < width; ++i)
    order.push_back(2 * i + from);
  return vector::ShuffleOp::create(builder, loc, a, b, order);
}

/// Elements from, from + 1, ... of even and odd ones taken in turn.
Value KernelLowering::inTurn(Value even, Value odd, int64_t from) {
  int64_t width = cast<VectorType>(even.getType()).getDimSize(0);
  SmallVector<int64_t> order;
  for (int64_t i = from; i < from + width; ++i)
    order.push_back(i / 2 + (i % 2 ? width : 0));
  return vector::ShuffleOp::create(builder, loc, even, odd, order);
}

/// sums[row][piece] += row[k] * matrix[k, piece], k ascending.
KernelLowering::Values KernelLowering::sumOverK(DotBlock &block, Values sums) {
  block.inPairs = comesInPairs(block, level.lanes());
  auto pairs = [&](auto first, auto second) {
    for (size_t i = 0; block.inPairs && i < sums.size(); i += 2) {
      Value a = sums[i], b = sums[i + 1];
      sums[i] = first(a, b);
      sums[i + 1] = second(a, b);
    }
  };
  pairs([&](Value a, Value b) { return everyOther(a, b, 0); },
        [&](Value a, Value b) { return everyOther(a, b, 1); });
  sums = block.op.getValid().empty() ? sumOverDepth(block, sums) : sumUpToCounts(block, sums);
  pairs([&](Value a, Value b) { return inTurn(a, b, 0); },
        [&](Value a, Value b) { return inTurn(a, b, level.lanes()); });
  return sums;
}

static int64_t unrollOf(const DotBlock &block) { return block.next ? kUnrollWithFetches : kUnroll; }

/// All of K: a loop of some steps at a time, then what is left.
KernelLowering::Values KernelLowering::sumOverDepth(const DotBlock &block, Values sums) {
  int64_t depth = depthOf(block.op), unroll = unrollOf(block), whole = depth / unroll * unroll;
  if (whole <= 2 * kUnroll)
    return addSteps(block, Value(), 0, depth, sums);
  sums = addLoop(block, index(0), index(whole), unroll, sums);
  return addSteps(block, Value(), whole, depth - whole, sums);
}

/// Rows with counts of their own go together as far as all go, then each by itself.
KernelLowering::Values KernelLowering::sumUpToCounts(const DotBlock &block, Values sums) {
  DotOp op = block.op;
  ValueRange counts = op.getValid();
  if (counts.size() > 1)
    counts = counts.slice(block.firstRow, block.rows.size());
  Values ends;
  for (Value count : counts)
    ends.push_back(clampedCount(lookup(count), depthOf(block.op)));
  Value together = ends.front();
  for (Value end : ArrayRef<Value>(ends).drop_front())
    together = arith::MinSIOp::create(builder, loc, together, end);
  sums = sumUpTo(block, index(0), together, sums);
  if (ends.size() == 1)
    return sums;
  size_t pieces = block.widths.size();
  for (auto [row, end] : llvm::enumerate(ends)) {
    DotBlock alone = block;
    alone.rows = {block.rows[row]};
    auto own = MutableArrayRef<Value>(sums).slice(row * pieces, pieces);
    llvm::copy(sumUpTo(alone, together, end, Values(own)), own.begin());
  }
  return sums;
}

/// From `begin` up to `end`, which is known only when the kernel runs.
KernelLowering::Values KernelLowering::sumUpTo(const DotBlock &block, Value begin, Value end,
                                               Values sums) {
  int64_t unroll = unrollOf(block);
  Value steps = builder.createOrFold<arith::SubIOp>(loc, end, begin);
  Value rest = arith::RemUIOp::create(builder, loc, steps, index(unroll));
  Value whole = arith::SubIOp::create(builder, loc, end, rest);
  sums = addLoop(block, begin, whole, unroll, sums);
  return addLoop(block, whole, end, 1, sums);
}

KernelLowering::Values KernelLowering::addLoop(const DotBlock &block, Value begin, Value end,
                                               int64_t steps, Values sums) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(steps), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values next =
      addSteps(block, loop.getInductionVar(), 0, steps, Values(loop.getRegionIterArgs()));
  scf::YieldOp::create(builder, loc, next);
  return Values(loop.getResults());
}

/// Steps k + offset, ... of K, written out; `k` null: 0.
KernelLowering::Values KernelLowering::addSteps(const DotBlock &block, Value k, int64_t offset,
                                                int64_t steps, Values sums) {
  Type f32 = builder.getF32Type(), stored = matrixElement(block.op);
  int64_t stride = lineStride(block.op);
  Value line = block.matrix;
  if (k)
    line = offsetBy(line, stored, arith::MulIOp::create(builder, loc, k, index(stride)));
  Value next = block.next;
  if (k && next)
    next = offsetBy(next, builder.getI8Type(), arith::MulIOp::create(builder, loc, k, index(block.nextBytes)));
  Values elements;
  for (Value row : block.rows)
    elements.push_back(k ? offsetBy(row, f32, k) : row);
  for (int64_t i = offset; i < offset + steps; ++i) {
    Values scalars;
    for (Value element : elements)
      scalars.push_back(load(f32, offsetBy(element, f32, i)));
    if (next)
      prefetch(offsetBy(next, builder.getI8Type(), i * block.nextBytes), block.nextBytes);
    addProducts(block, scalars, offsetBy(line, stored, i * stride), sums);
  }
  return sums;
}

/// One step of K; `line` is where the block's part of the matrix's line lies.
void KernelLowering::addProducts(const DotBlock &block, ValueRange scalars, Value line,
                                 Values &sums) {
  Type stored = matrixElement(block.op);
  Values pieces;
  for (size_t column = 0; pieces.size() < block.widths.size();) {
    int64_t width = block.widths[pieces.size()];
    Value place = offsetBy(line, stored, int64_t(column));
    if (block.inPairs) {
      auto [even, odd] = loadPair(width, place);
      pieces.append({even, odd});
      column += 2 * width;
    } else {
      pieces.push_back(loadExtended(stored, width, place));
      column += width;
    }
  }
  auto add = [&](size_t row, size_t piece) {
    Value b = pieces[piece], &sum = sums[row * pieces.size() + piece];
    Value a = vector::BroadcastOp::create(builder, loc, b.getType(), scalars[row]);
    sum = math::FmaOp::create(builder, loc, a, b, sum);
  };
  // Whichever are fewer stay in registers meanwhile.
  if (pieces.size() < scalars.size())
    for (size_t row = 0; row < scalars.size(); ++row)
      for (size_t piece = 0; piece < pieces.size(); ++piece)
        add(row, piece);
  else
    for (size_t piece = 0; piece < pieces.size(); ++piece)
      for (size_t row = 0; row < scalars.size(); ++row)
        add(row, piece);
}

/// What is read after the dot is fetched while it goes on, in order, by its blocks in turn. A place that is none does no harm.
void KernelLowering::fetchNext(DotBlock &block, int64_t index, int64_t blocks) {
  int64_t distance = distanceToNext(block.op);
  int64_t lineBytes = lineStride(block.op) * matrixElement(block.op).getIntOrFloatBitWidth() / 8;
  while (blocks > 1 && lineBytes % (blocks * kCacheLine) != 0)
    --blocks;
  if (!distance || index >= blocks)
    return;
  block.nextBytes = lineBytes / blocks;
  block.next = offsetBy(block.matrix, builder.getI8Type(), distance + index * depthOf(block.op) * block.nextBytes);
}

/// 2 x `width` columns of bf16: the even ones and the odd ones, as f32.
std::pair<Value, Value> KernelLowering::loadPair(int64_t width, Value place) {
  VectorType words = vectorOf(width, builder.getI32Type()),
             floats = vectorOf(width, builder.getF32Type());
  Value halves = load(vectorOf(2 * width, builder.getI16Type()), place);
  Value both = vector::BitCastOp::create(builder, loc, words, halves);
  Value low = arith::ShLIOp::create(builder, loc, both, splat(words, 16));
  Value high = arith::AndIOp::create(builder, loc, both, splat(words, -(int64_t(1) << 16)));
  return {arith::BitcastOp::create(builder, loc, floats, low),
          arith::BitcastOp::create(builder, loc, floats, high)};
}
