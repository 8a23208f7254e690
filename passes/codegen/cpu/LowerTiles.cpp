// SPDX-License-Identifier: Apache-2.0
//
// Broadcasts, and the trees by which lanes are summed: TileOps.td fixes them, so the bits are the
// same on every level.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/codegen/cpu/KernelLowering.h"

using namespace mlir;
using namespace llmc::cpu;
using namespace llmc::tile;

void KernelLowering::lowerBroadcast(BroadcastOp op) {
  auto tile = cast<RankedTensorType>(op.getResult().getType());
  Type type = vectorOf(tile.getDimSize(0), tile.getElementType());
  values.map(op.getResult(),
             vector::BroadcastOp::create(builder, loc, type, lookup(op.getValue())).getResult());
}

void KernelLowering::lowerIota(IotaOp op) {
  int64_t width = cast<RankedTensorType>(op.getResult().getType()).getDimSize(0);
  SmallVector<int32_t> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(int32_t(i));
  auto elements =
      DenseElementsAttr::get(vectorOf(width, builder.getI32Type()), ArrayRef<int32_t>(lanes));
  values.map(op.getResult(), arith::ConstantOp::create(builder, loc, elements).getResult());
}

void KernelLowering::lowerReduce(ReduceOp op) {
  Value rest = lookup(op.getInput());
  bool areIntegers = cast<VectorType>(rest.getType()).getElementType().isInteger();
  for (int64_t half = cast<VectorType>(rest.getType()).getDimSize(0) / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    if (half == 1 && areIntegers) { // one lane would travel through the other registers
      Value turned = vector::ShuffleOp::create(builder, loc, rest, rest, ArrayRef<int64_t>{1, 0});
      rest = combine(op.getReduction(), rest, turned);
      break;
    }
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    Value first = vector::ShuffleOp::create(builder, loc, rest, rest, low);
    Value second = vector::ShuffleOp::create(builder, loc, rest, rest, high);
    rest = combine(op.getReduction(), first, second);
  }
  values.map(op.getResult(),
             vector::ExtractOp::create(builder, loc, rest, ArrayRef<int64_t>{0}).getResult());
}

/// A vector holding one group of still unsummed lanes for each of some rows.
namespace {
struct Groups {
  Value vector;
  SmallVector<int64_t> rows; // whose group lies at each place
};
} // namespace

/// The halving tree of each of the rows at once; element r of the result is the sum of row r. At
/// each level two vectors are shuffled into one with the lower and one with the upper halves of all
/// their groups, then added: the same additions as row by row, with a fraction of the shuffles. A
/// power of two of rows, no more than lanes.
Value KernelLowering::sumRows(Values rows) {
  SmallVector<Groups> parts;
  for (auto [i, row] : llvm::enumerate(rows))
    parts.push_back({row, {int64_t(i)}});
  int64_t lanes = cast<VectorType>(rows.front().getType()).getDimSize(0);
  for (int64_t size = lanes; size > 1; size /= 2) {
    int64_t half = size / 2, pairs = int64_t(parts.size()) / 2;
    SmallVector<Groups> next;
    for (int64_t p = 0; p < std::max<int64_t>(pairs, 1); ++p) {
      Groups &a = parts[p], &b = parts[pairs ? p + pairs : p];
      // Last level: two groups of a, two of b, as one shufps does it. Else alternately, as unpcklpd
      // does it.
      int64_t run = half == 1 && a.rows.size() >= 2 ? 2 : 1;
      SmallVector<int64_t> low, high, order;
      auto take = [&](Groups &from, int64_t base, int64_t group) {
        for (int64_t i = 0; i < run; ++i) {
          order.push_back(from.rows[group + i]);
          for (int64_t e = 0; e < half; ++e) {
            low.push_back(base + (group + i) * size + e);
            high.push_back(base + (group + i) * size + half + e);
          }
        }
      };
      for (int64_t group = 0; group < int64_t(a.rows.size()); group += run) {
        take(a, 0, group);
        if (pairs)
          take(b, int64_t(a.rows.size()) * size, group);
      }
      Value lower = vector::ShuffleOp::create(builder, loc, a.vector, b.vector, low);
      Value upper = vector::ShuffleOp::create(builder, loc, a.vector, b.vector, high);
      next.push_back({combine(Reduction::Add, lower, upper), order});
    }
    parts = std::move(next);
  }
  Groups &sums = parts.front();
  SmallVector<int64_t> inOrder(sums.rows.size());
  for (auto [place, row] : llvm::enumerate(sums.rows))
    inOrder[row] = int64_t(place);
  return vector::ShuffleOp::create(builder, loc, sums.vector, sums.vector, inOrder);
}

Value KernelLowering::slice(Value vector, int64_t first, int64_t width) {
  if (width == cast<VectorType>(vector.getType()).getDimSize(0))
    return vector;
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(first + i);
  return vector::ShuffleOp::create(builder, loc, vector, vector, lanes);
}

/// The pieces end to end.
Value KernelLowering::join(Values pieces) {
  while (pieces.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < pieces.size(); i += 2) {
      int64_t width = cast<VectorType>(pieces[i].getType()).getDimSize(0) +
                      cast<VectorType>(pieces[i + 1].getType()).getDimSize(0);
      SmallVector<int64_t> lanes;
      for (int64_t lane = 0; lane < width; ++lane)
        lanes.push_back(lane);
      next.push_back(vector::ShuffleOp::create(builder, loc, pieces[i], pieces[i + 1], lanes));
    }
    if (pieces.size() % 2)
      next.push_back(pieces.back());
    pieces = std::move(next);
  }
  return pieces.front();
}
