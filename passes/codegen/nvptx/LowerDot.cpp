// SPDX-License-Identifier: Apache-2.0
//
// `tile.dot` as chains of fused multiply-adds, one for each element that a lane holds: `by` reads
// neighbouring columns in neighbouring lanes, `by_transposed` gives each lane a line of its own.
// Elements of a row come from memory, the same for all lanes, or by shuffle from the lane that
// holds them.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/nvptx/KernelLowering.h"

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

/// Steps of K written out in a loop body.
static constexpr int64_t kUnroll = 4;
/// Steps of K that are written out without a loop.
static constexpr int64_t kStraightSteps = 16;
/// Multiply-adds of a lane that `by_transposed` writes out.
static constexpr int64_t kMostWrittenOut = 8192;

LogicalResult KernelLowering::lowerDot(DotOp op) {
  if (failed(checkDot(op)))
    return failure();
  SmallVector<Row> rows;
  for (Value row : op.getRows()) {
    if (LoadOp source = rowInMemory(row))
      rows.push_back({addressOf(source), {}});
    else
      rows.push_back({Value(), unpack(lookup(row))});
  }
  Value matrix = addressOf(op.getMatrix().getDefiningOp<LoadOp>());
  if (op.getTransposed())
    return lowerDotByTransposed(op, matrix, rows);
  lowerDotBy(op, matrix, rows);
  return success();
}

/// An element of the matrix as f32.
Value KernelLowering::extended(Value stored) {
  Type f32 = builder.getF32Type();
  if (stored.getType() == f32)
    return stored;
  if (stored.getType().isInteger(8))
    return arith::SIToFPOp::create(builder, loc, f32, stored);
  return arith::ExtFOp::create(builder, loc, f32, stored);
}

/// Element slot * 32 + lane + offset of a row, in all lanes; `lane` null: 0.
Value KernelLowering::elementOf(const Row &row, int64_t slot, Value lane, int64_t offset) {
  Type f32 = builder.getF32Type();
  if (row.address) {
    Value place = lane ? offsetBy(row.address, f32, lane) : row.address;
    return load(f32, offsetBy(place, f32, slot * kWarp + offset));
  }
  Value from = i32(offset);
  if (lane)
    from = arith::AddIOp::create(
        builder, loc, arith::IndexCastOp::create(builder, loc, builder.getI32Type(), lane), from);
  return shuffle(NVVM::ShflKind::idx, row.held[slot], from);
}

/// sums[row][piece] += row[k] * matrix[k, piece], k ascending: 32 steps of K at a time, since the
/// elements of a computed row change their register there.
void KernelLowering::lowerDotBy(DotOp op, Value matrix, ArrayRef<Row> rows) {
  int64_t depth = widthOf(op.getRows().front());
  bool allInMemory = llvm::all_of(rows, [](const Row &row) { return bool(row.address); });
  int64_t pieceDepth = allInMemory ? depth : kWarp;
  Values sums;
  for (Value accumulator : op.getAccumulators())
    llvm::append_range(sums, unpack(lookup(accumulator)));
  Values ends;
  for (Value count : op.getValid())
    ends.push_back(clampedCount(lookup(count), depth));
  Value end = ends.empty() ? Value() : ends.front();
  for (Value other : ArrayRef<Value>(ends).drop_front(ends.empty() ? 0 : 1))
    end = arith::MaxSIOp::create(builder, loc, end, other);
  for (int64_t first = 0; first < depth; first += pieceDepth) {
    int64_t steps = std::min(pieceDepth, depth - first), slot = first / kWarp;
    auto addLoop = [&](Value to, int64_t stride) {
      auto loop = scf::ForOp::create(builder, loc, index(0), to, index(stride), sums);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value k = loop.getInductionVar();
      Values before(loop.getRegionIterArgs());
      Values next = addLines(op, matrix, rows, slot, k, 0, stride, before);
      if (ends.size() > 1)
        keepBeyond(arith::AddIOp::create(builder, loc, k, index(first)), ends, before, next);
      scf::YieldOp::create(builder, loc, next);
      sums = Values(loop.getResults());
    };
    if (end) {
      addLoop(clampedCount(arith::SubIOp::create(builder, loc, end, index(first)), steps), 1);
      continue;
    }
    int64_t whole = steps <= kStraightSteps ? 0 : steps / kUnroll * kUnroll;
    if (whole)
      addLoop(index(whole), kUnroll);
    sums = addLines(op, matrix, rows, slot, Value(), whole, steps - whole, sums);
  }
  size_t pieces = sums.size() / rows.size();
  for (auto [row, result] : llvm::enumerate(op.getResults()))
    values.map(result, pack(ArrayRef<Value>(sums).slice(row * pieces, pieces)));
}

/// Rows that end at or before line `k` keep the sums that they had.
void KernelLowering::keepBeyond(Value k, ArrayRef<Value> ends, ArrayRef<Value> before,
                                MutableArrayRef<Value> sums) {
  size_t pieces = sums.size() / ends.size();
  for (auto [row, end] : llvm::enumerate(ends)) {
    Value goesOn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, k, end);
    for (size_t i = row * pieces; i < (row + 1) * pieces; ++i)
      sums[i] = arith::SelectOp::create(builder, loc, goesOn, sums[i], before[i]);
  }
}

/// Steps k + offset, ... of K, counted from the first of `slot`; `k` null: 0.
KernelLowering::Values KernelLowering::addLines(DotOp op, Value matrix, ArrayRef<Row> rows,
                                                int64_t slot, Value k, int64_t offset,
                                                int64_t steps, Values sums) {
  Type stored = matrixElement(op);
  int64_t columns = widthOf(op.getResult(0)), stride = lineStride(op), pieces = slotsOf(columns);
  Value own = offsetBy(matrix, stored, lane);
  if (k)
    own = offsetBy(own, stored, arith::MulIOp::create(builder, loc, k, index(stride)));
  for (int64_t i = offset; i < offset + steps; ++i) {
    Values elements;
    for (const Row &row : rows)
      elements.push_back(elementOf(row, slot, k, i));
    for (int64_t piece = 0; piece < pieces; ++piece) {
      Value place = offsetBy(own, stored, (slot * kWarp + i) * stride + piece * kWarp);
      Value b = extended(loadWhere(isPresent(piece, columns, Value()), stored, place));
      for (auto [row, element] : llvm::enumerate(elements)) {
        Value &sum = sums[row * pieces + piece];
        sum = math::FmaOp::create(builder, loc, element, b, sum);
      }
    }
  }
  return sums;
}

/// A lane goes along its own lines, `lanes` chains each, then adds the tree. Idle lanes repeat the
/// last line, so that all take part in shuffles.
LogicalResult KernelLowering::lowerDotByTransposed(DotOp op, Value matrix, ArrayRef<Row> rows) {
  Type f32 = builder.getF32Type(), stored = matrixElement(op);
  int64_t lines = widthOf(op.getResult(0)), depth = widthOf(op.getRows().front()),
          chains = op.getLanes(), pieces = slotsOf(lines);
  if (depth * pieces * int64_t(rows.size()) > kMostWrittenOut)
    return refuse(op) << "found " << depth << " x " << lines << " for " << rows.size()
                      << " rows, expected at most " << kMostWrittenOut
                      << " multiply-adds a lane; use fewer rows or narrower tiles";
  SmallVector<Values> sums(rows.size() * pieces, Values(chains, zeros(f32)));
  Values ownLines;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Value number = arith::AddIOp::create(builder, loc, lane, index(piece * kWarp));
    number = arith::MinSIOp::create(builder, loc, number, index(lines - 1));
    ownLines.push_back(offsetBy(
        matrix, stored, arith::MulIOp::create(builder, loc, number, index(lineStride(op)))));
  }
  for (int64_t k = 0; k < depth; ++k) {
    Values elements;
    for (const Row &row : rows)
      elements.push_back(elementOf(row, k / kWarp, Value(), k % kWarp));
    for (auto [piece, ownLine] : llvm::enumerate(ownLines)) {
      Value b = extended(load(stored, offsetBy(ownLine, stored, k)));
      for (auto [row, element] : llvm::enumerate(elements)) {
        Value &sum = sums[row * pieces + piece][k % chains];
        sum = math::FmaOp::create(builder, loc, element, b, sum);
      }
    }
  }
  for (auto [row, result] : llvm::enumerate(op.getResults())) {
    Values results = unpack(lookup(op.getAccumulators()[row]));
    for (auto [piece, value] : llvm::enumerate(results)) {
      Values &tree = sums[row * pieces + piece];
      for (int64_t half = chains / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half; ++i)
          tree[i] = arith::AddFOp::create(builder, loc, tree[i], tree[i + half]);
      value = arith::AddFOp::create(builder, loc, value, tree.front());
    }
    values.map(result, pack(results));
  }
  return success();
}
