// SPDX-License-Identifier: Apache-2.0
//
// `tile.dot4` as `dp4a.u32.s32` (`.s32.s32` where weights are signed): each lane sums the products of the bytes that it holds. No lane
// needs another's, so nothing is shuffled, and idle lanes sum what they hold for nobody.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/codegen/nvptx/KernelLowering.h"

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

LogicalResult KernelLowering::lowerDot4(Dot4Op op) {
  if (failed(convertType(op, op.getWeights().getType())))
    return failure();
  auto bytes = VectorType::get({4}, builder.getI8Type());
  auto asBytes = [&](Value word) -> Value {
    return LLVM::BitcastOp::create(builder, loc, bytes, word);
  };
  auto kind = op.getSignedWeights() ? NVVM::DotAccumulateType::SIGNED : NVVM::DotAccumulateType::UNSIGNED;
  Values weights = unpack(lookup(op.getWeights()));
  for (auto [row, accumulator, result] :
       llvm::zip(op.getRows(), op.getAccumulators(), op.getResults())) {
    Values words = unpack(lookup(row)), sums = unpack(lookup(accumulator));
    for (auto [weight, word, sum] : llvm::zip(weights, words, sums))
      sum = NVVM::DotAccumulate4WayOp::create(builder, loc, sum.getType(), asBytes(weight),
                                              kind, asBytes(word),
                                              NVVM::DotAccumulateType::SIGNED, sum);
    values.map(result, pack(sums));
  }
  return success();
}
