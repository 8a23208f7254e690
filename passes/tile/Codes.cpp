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
  Value scale = k.divf(largest, k.scalar(127));
  Value some = arith::CmpFOp::create(k.body, k.loc, arith::CmpFPredicate::OGE, scale,
                                     k.scalar(std::numeric_limits<float>::min()));
  Value inverse =
      arith::SelectOp::create(k.body, k.loc, some, k.divf(k.scalar(1), scale), k.scalar(0));
  return {scale, inverse};
}

Value tiles::codesOf(KernelBuilder &k, Value tile, const CodeScale &scale) {
  auto type = cast<RankedTensorType>(tile.getType());
  Value scaled = k.mulf(tile, k.broadcast(scale.inverse, type.getDimSize(0)));
  return arith::FPToSIOp::create(k.body, k.loc, type.clone(k.body.getI32Type()),
                                 math::RoundEvenOp::create(k.body, k.loc, scaled));
}

Value tiles::asBytes(KernelBuilder &k, Value codes) {
  auto bytes = cast<RankedTensorType>(codes.getType()).clone(k.body.getI8Type());
  return arith::TruncIOp::create(k.body, k.loc, bytes, codes);
}
