// SPDX-License-Identifier: Apache-2.0
//
// Rounding to codes of 8 bits, each operation as LLMOps.td states it for `llm.quantize`.
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/tile/KernelBuilder.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::tiles;

Value tiles::sizesOf(KernelBuilder &k, Value tile) {
  auto ints = cast<RankedTensorType>(tile.getType()).clone(k.body.getI32Type());
  return arith::BitcastOp::create(k.body, k.loc, ints, math::AbsFOp::create(k.body, k.loc, tile));
}

CodeScale tiles::codeScale(KernelBuilder &k, Value sizes) {
  Value largest = arith::BitcastOp::create(k.body, k.loc, k.body.getF32Type(),
                                           k.reduce(tile::Reduction::Max, sizes));
  Value scale = arith::MaximumFOp::create(k.body, k.loc, k.divf(largest, k.scalar(127)),
                                          k.scalar(std::numeric_limits<float>::min()));
  return {scale, k.divf(k.scalar(1), scale)};
}

Value tiles::codesOf(KernelBuilder &k, Value tile, const CodeScale &scale) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t width = type.getDimSize(0);
  Value scaled = k.mulf(tile, k.broadcast(scale.inverse, width));
  Value rounded = k.addf(scaled, k.filled(width, kFloatOffset));
  return arith::BitcastOp::create(k.body, k.loc, type.clone(k.body.getI32Type()), rounded);
}

Value tiles::sumOfCodes(KernelBuilder &k, Value codes) {
  int64_t width = cast<RankedTensorType>(codes.getType()).getDimSize(0);
  auto less = k.body.getI32IntegerAttr(int32_t(uint32_t(width * kFloatBits)));
  return arith::SubIOp::create(k.body, k.loc, k.reduce(tile::Reduction::Add, codes),
                               arith::ConstantOp::create(k.body, k.loc, less));
}

Value tiles::asBytes(KernelBuilder &k, Value codes) {
  auto bytes = cast<RankedTensorType>(codes.getType()).clone(k.body.getI8Type());
  return arith::TruncIOp::create(k.body, k.loc, bytes, codes);
}
