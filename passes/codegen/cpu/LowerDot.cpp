// SPDX-License-Identifier: Apache-2.0
//
// `tile.dot` as register blocks of fused multiply-adds that read the matrix from memory
// (LowerDotBlock.cpp). Which rows and columns share a block is free: an element's own chain of
// additions is the one that TileOps.td states, so the bits do not depend on it.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/codegen/cpu/KernelLowering.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::cpu;
using namespace llmc::tile;

/// Vectors written out in a loop body of by_transposed.
static constexpr int64_t kUnroll = 4;
/// Vectors of one row that are multiplied without a loop over them.
static constexpr int64_t kStraightVectors = 8;

/// Where the elements of a row lie: where it was loaded from, or a copy on the stack.
Value KernelLowering::rowAddress(DotOp op, Value row) {
  if (LoadOp source = rowInMemory(row))
    return addressOf(source);
  Value vector = lookup(row);
  Value &buffer = rowBuffers[vector];
  if (!buffer) {
    buffer = stackBuffer(cast<VectorType>(vector.getType()).getDimSize(0));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(vector);
    store(vector, buffer);
  }
  return buffer;
}

/// Some elements of the matrix, as f32.
Value KernelLowering::loadExtended(Type element, int64_t width, Value pointer) {
  Value stored = load(vectorOf(width, element), pointer);
  if (element.isF32())
    return stored;
  VectorType extended = vectorOf(width, builder.getF32Type());
  if (element.isInteger(8))
    return arith::SIToFPOp::create(builder, loc, extended, stored);
  return arith::ExtFOp::create(builder, loc, extended, stored);
}

LogicalResult KernelLowering::lowerDot(DotOp op) {
  if (failed(checkDot(op)))
    return failure();
  Values rows;
  for (Value row : op.getRows())
    rows.push_back(rowAddress(op, row));
  Value matrix = addressOf(op.getMatrix().getDefiningOp<LoadOp>());
  if (op.getTransposed())
    lowerDotByTransposed(op, matrix, rows);
  else
    lowerDotBy(op, matrix, rows);
  return success();
}

/// Cuts columns into registers, and rows x columns into blocks whose sums stay in registers (a quarter is left for what is multiplied): as
/// many columns as possible, because each broadcast element of a row is then used for more of them.
void KernelLowering::lowerDotBy(DotOp op, Value matrix, ValueRange rows) {
  int64_t columns = cast<RankedTensorType>(op.getResult(0).getType()).getDimSize(0),
          lanes = level.lanes();
  int64_t registers = llvm::divideCeil(columns, lanes), rowCount = int64_t(rows.size()),
          budget = level.vectorRegisters * 3 / 4;
  int64_t across = registers;
  while (across > 1 && across * rowCount > budget)
    across = (across + 1) / 2;
  int64_t down = std::min(rowCount, std::max<int64_t>(budget / across, 1));
  int64_t blocks = llvm::divideCeil(rowCount, down) * llvm::divideCeil(registers, across), done = 0;
  Pieces sums(rowCount);
  for (int64_t firstRow = 0; firstRow < rowCount; firstRow += down)
    for (int64_t first = 0; first < registers; first += across) {
      DotBlock block{op, matrix, firstRow};
      int64_t endRow = std::min(firstRow + down, rowCount), column = first * lanes;
      fetchNext(block, done++, blocks);
      block.matrix = offsetBy(matrix, matrixElement(op), column);
      block.rows.append(rows.begin() + firstRow, rows.begin() + endRow);
      for (; column < std::min((first + across) * lanes, columns); column += lanes)
        block.widths.push_back(std::min(lanes, columns - column));
      Values inits;
      for (Value accumulator : op.getAccumulators().slice(firstRow, endRow - firstRow))
        for (auto [r, width] : llvm::enumerate(block.widths))
          inits.push_back(slice(lookup(accumulator), (first + int64_t(r)) * lanes, width));
      for (auto [i, sum] : llvm::enumerate(sumOverK(block, inits)))
        sums[firstRow + int64_t(i / block.widths.size())].push_back(sum);
    }
  for (auto [row, result] : llvm::enumerate(op.getResults()))
    values.map(result, join(sums[row]));
}

/// Some lines of the matrix at a time, each with its own lanes; their trees are then summed
/// together.
void KernelLowering::lowerDotByTransposed(DotOp op, Value matrix, ValueRange rows) {
  Type f32 = builder.getF32Type(), stored = matrixElement(op);
  int64_t lines = cast<RankedTensorType>(op.getResult(0).getType()).getDimSize(0),
          lanes = op.getLanes();
  int64_t registers = llvm::divideCeil(lanes, int64_t(level.lanes()));
  int64_t together = 1;
  while (together * 2 <= lanes && lines % (together * 2) == 0 &&
         together * 2 * registers <= level.vectorRegisters / 2)
    together *= 2;
  Values sums;
  for (size_t row = 0; row < rows.size(); ++row)
    sums.push_back(stackBuffer(lines));
  auto loop = scf::ForOp::create(builder, loc, index(0), index(lines), index(together));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value n = loop.getInductionVar();
    Value line =
        offsetBy(matrix, stored, arith::MulIOp::create(builder, loc, n, index(lineStride(op))));
    for (auto [row, sum] : llvm::zip(rows, sums))
      store(sumRows(laneSums(op, line, row, together)), offsetBy(sum, f32, n));
  }
  for (auto [row, result] : llvm::enumerate(op.getResults())) {
    Value accumulator = lookup(op.getAccumulators()[row]);
    Value sum = load(accumulator.getType(), sums[row]);
    values.map(result, arith::AddFOp::create(builder, loc, accumulator, sum).getResult());
  }
}

/// lanes[line][l] = sum over k = l, l + lanes, ... of row[k] * matrix[line, k], for `count` lines
/// from `matrix` on.
KernelLowering::Values KernelLowering::laneSums(DotOp op, Value matrix, Value row, int64_t count) {
  Type f32 = builder.getF32Type(), stored = matrixElement(op);
  int64_t depth = cast<RankedTensorType>(op.getRows().front().getType()).getDimSize(0),
          stride = lineStride(op);
  int64_t lanes = op.getLanes(), vectors = depth / lanes;
  VectorType type = vectorOf(lanes, f32);
  auto addVectors = [&](Value line, Value row, int64_t first, int64_t steps, Values sums) {
    for (int64_t i = first; i < first + steps; ++i) {
      Value a = load(type, offsetBy(row, f32, i * lanes));
      for (int64_t n = 0; n < count; ++n) {
        Value b = loadExtended(stored, lanes, offsetBy(line, stored, n * stride + i * lanes));
        sums[n] = math::FmaOp::create(builder, loc, a, b, sums[n]);
      }
    }
    return sums;
  };
  Values sums(count, zeros(type));
  if (vectors <= kStraightVectors)
    return addVectors(matrix, row, 0, vectors, sums);
  int64_t whole = vectors / kUnroll * kUnroll;
  auto loop = scf::ForOp::create(builder, loc, index(0), index(whole * lanes),
                                 index(kUnroll * lanes), sums);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    Values next = addVectors(offsetBy(matrix, stored, k), offsetBy(row, f32, k), 0, kUnroll,
                             Values(loop.getRegionIterArgs()));
    scf::YieldOp::create(builder, loc, next);
  }
  return addVectors(matrix, row, whole, vectors - whole, Values(loop.getResults()));
}
