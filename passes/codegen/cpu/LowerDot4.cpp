// SPDX-License-Identifier: Apache-2.0
//
// `tile.dot4`: vpdpbusd where the level has it; else products of 16-bit halves, or of bytes where
// they cannot saturate.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/codegen/cpu/KernelLowering.h"

using namespace mlir;
using namespace llmc::cpu;
using namespace llmc::tile;

/// The largest sum of signed 16 bits; products of bytes are summed in pairs, with saturation, into
/// those.
static constexpr int64_t kLargest16 = 32767;

/// How many pairs of byte products fit into 16 bits: 0 where not even one does.
static int64_t pairsThatFit(int64_t bits) {
  return kLargest16 / (2 * 128 * ((int64_t(1) << bits) - 1));
}

/// The dot4 that alone takes these results, as its accumulators.
static Dot4Op nextInChain(Dot4Op op) {
  auto next =
      op.getResult(0).hasOneUse() ? dyn_cast<Dot4Op>(*op.getResult(0).user_begin()) : Dot4Op();
  if (!next || next.getBits() != op.getBits() || next.getSignedWeights() != op.getSignedWeights() || next->getBlock() != op->getBlock() ||
      !llvm::equal(next.getAccumulators(), op.getResults()))
    return {};
  return llvm::all_of(op.getResults(), [](Value result) { return result.hasOneUse(); }) ? next
                                                                                        : Dot4Op();
}

/// Links of a chain share their sums: integer sums are exact in any order, so that several products
/// may be added in 16 bits before they are widened. Each link is emitted where it stands, because
/// LLVM's scheduler keeps to that order, and weights of many links at once do not fit into
/// registers. One register of weights at a time serves all rows.
void KernelLowering::lowerDot4(Dot4Op op) {
  size_t rows = op.getRows().size();
  int64_t width = cast<RankedTensorType>(op.getWeights().getType()).getDimSize(0),
          lanes = level.lanes(),
          fits = level.hasByteDot() || op.getSignedWeights() ? 0 : pairsThatFit(op.getBits());
  Dot4Chain chain = openChains.lookup(op);
  openChains.erase(op);
  if (chain.sums.empty()) {
    chain.sums.resize(rows), chain.pairs.resize(rows);
    for (size_t row = 0; row < rows; ++row)
      for (int64_t first = 0; first < width; first += lanes)
        chain.sums[row].push_back(
            slice(lookup(op.getAccumulators()[row]), first, std::min(lanes, width - first)));
  }
  Dot4Op next = nextInChain(op);
  bool widen = ++chain.held == fits || !next;
  for (size_t piece = 0; piece < chain.sums.front().size(); ++piece)
    for (size_t row = 0; row < rows; ++row) {
      Value &sum = chain.sums[row][piece];
      int64_t first = int64_t(piece) * lanes, count = cast<VectorType>(sum.getType()).getDimSize(0);
      Value weights = slice(lookup(op.getWeights()), first, count),
            bytes = slice(lookup(op.getRows()[row]), first, count);
      if (count != lanes || fits == 0) {
        sum = op.getSignedWeights() ? dot4OfSigned(weights, bytes, sum) : dot4(weights, bytes, sum);
        continue;
      }
      chain.pairs[row].resize(chain.sums[row].size());
      Value &pair = chain.pairs[row][piece];
      Value products = productPairs(weights, bytes);
      pair = pair ? arith::AddIOp::create(builder, loc, pair, products).getResult() : products;
      if (widen) {
        sum = addProductsOfHalves(sum, pair, splat(cast<VectorType>(pair.getType()), 1));
        pair = Value();
      }
    }
  holdInPlace(chain);
  chain.held = widen ? 0 : chain.held;
  if (next) {
    openChains[next] = std::move(chain);
    return;
  }
  for (auto [row, result] : llvm::enumerate(op.getResults()))
    values.map(result, join(chain.sums[row]));
}

/// LLVM would rather finish one row after the other and keep, or spill, all weights of a group; and it reads them out of order,
/// which the machine's prefetching likes less. What is in flight of each row passes through code that says nothing and stays where
/// it is.
void KernelLowering::holdInPlace(Dot4Chain &chain) {
  auto hold = [&](Value &value) {
    auto type = value ? cast<VectorType>(value.getType()) : VectorType();
    if (type && type.getNumElements() * type.getElementTypeBitWidth() == 8 * level.vectorBytes) // a register's
      value = LLVM::InlineAsmOp::create(builder, loc, TypeRange{type}, ValueRange{value}, /*asm_string=*/"",
                                        level.vectorBytes == 64 ? "=v,0" : "=x,0", /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                        LLVM::AsmDialectAttr(), ArrayAttr())
                  .getRes();
  };
  for (size_t row = 0; row < chain.sums.size(); ++row)
    for (size_t piece = 0; piece < chain.sums[row].size(); ++piece) {
      bool inPairs = piece < chain.pairs[row].size() && chain.pairs[row][piece];
      hold(inPairs ? chain.pairs[row][piece] : chain.sums[row][piece]);
    }
}

/// Vectors of one register, or what is left of a tile.
Value KernelLowering::dot4(Value weights, Value bytes, Value sum) {
  if (cast<VectorType>(sum.getType()).getDimSize(0) != int64_t(level.lanes()))
    return dot4ByByte(weights, bytes, sum, /*signedWeights=*/false);
  return level.hasByteDot() ? callOnBytes("llvm.x86.avx512.vpdpbusd.512", sum, weights, bytes)
                            : dot4ByHalves(weights, bytes, sum);
}

static VectorType recast(VectorType type, OpBuilder &builder, unsigned bits) {
  return VectorType::get({type.getDimSize(0) * 32 / bits}, builder.getIntegerType(bits));
}

/// The sign of each weight goes to its byte of the row, so that products of an unsigned and a signed
/// byte are left, whose pairs fit into 16 bits: at most 2 * 128 * 127.
Value KernelLowering::dot4OfSigned(Value weights, Value bytes, Value sum) {
  auto type = cast<VectorType>(sum.getType());
  if (level.vectorBytes != 32 || type.getDimSize(0) != int64_t(level.lanes()))
    return dot4ByByte(weights, bytes, sum, /*signedWeights=*/true);
  VectorType asBytes = recast(type, builder, 8);
  Value w = LLVM::BitcastOp::create(builder, loc, asBytes, weights),
        v = LLVM::BitcastOp::create(builder, loc, asBytes, bytes);
  Value size = math::AbsIOp::create(builder, loc, w);
  Value turned = LLVM::CallIntrinsicOp::create(builder, loc, asBytes,
                                               builder.getStringAttr("llvm.x86.avx2.psign.b"),
                                               ValueRange{v, w})
                     .getResults();
  Value pairs = productPairs(LLVM::BitcastOp::create(builder, loc, type, size),
                             LLVM::BitcastOp::create(builder, loc, type, turned));
  return addProductsOfHalves(sum, pairs, splat(cast<VectorType>(pairs.getType()), 1));
}

Value KernelLowering::callOnBytes(StringRef name, Value sum, Value weights, Value bytes) {
  Type type = recast(cast<VectorType>(sum.getType()), builder, 8);
  Value w = LLVM::BitcastOp::create(builder, loc, type, weights),
        v = LLVM::BitcastOp::create(builder, loc, type, bytes);
  return LLVM::CallIntrinsicOp::create(builder, loc, sum.getType(), builder.getStringAttr(name),
                                       ValueRange{sum, w, v})
      .getResults();
}

Value KernelLowering::splat(VectorType type, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
}

/// sum + a[2i] * b[2i] + a[2i + 1] * b[2i + 1] on signed 16-bit halves.
Value KernelLowering::addProductsOfHalves(Value sum, Value a, Value b) {
  StringRef name =
      level.vectorBytes == 64 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  Value products = LLVM::CallIntrinsicOp::create(builder, loc, sum.getType(),
                                                 builder.getStringAttr(name), ValueRange{a, b})
                       .getResults();
  return arith::AddIOp::create(builder, loc, sum, products);
}

/// Products of bytes, summed in pairs into 16 bits.
Value KernelLowering::productPairs(Value weights, Value bytes) {
  auto type = cast<VectorType>(weights.getType());
  StringRef name =
      level.vectorBytes == 64 ? "llvm.x86.avx512.pmaddubs.w.512" : "llvm.x86.avx2.pmadd.ub.sw";
  Value w = LLVM::BitcastOp::create(builder, loc, recast(type, builder, 8), weights);
  Value v = LLVM::BitcastOp::create(builder, loc, recast(type, builder, 8), bytes);
  return LLVM::CallIntrinsicOp::create(builder, loc, recast(type, builder, 16),
                                       builder.getStringAttr(name), ValueRange{w, v})
      .getResults();
}

/// Bytes of the weights may be up to 255: even and odd ones apart, as 16-bit halves.
Value KernelLowering::dot4ByHalves(Value weights, Value bytes, Value sum) {
  VectorType type = recast(cast<VectorType>(sum.getType()), builder, 16);
  Value eight = splat(type, 8), w = LLVM::BitcastOp::create(builder, loc, type, weights),
        v = LLVM::BitcastOp::create(builder, loc, type, bytes);
  Value even = arith::AndIOp::create(builder, loc, w, splat(type, 255)),
        odd = arith::ShRUIOp::create(builder, loc, w, eight);
  Value evenBytes =
      arith::ShRSIOp::create(builder, loc, arith::ShLIOp::create(builder, loc, v, eight), eight);
  Value oddBytes = arith::ShRSIOp::create(builder, loc, v, eight);
  return addProductsOfHalves(addProductsOfHalves(sum, even, evenBytes), odd, oddBytes);
}

Value KernelLowering::dot4ByByte(Value weights, Value bytes, Value sum, bool signedWeights) {
  auto type = cast<VectorType>(sum.getType());
  Value top = splat(type, 24);
  for (int64_t byte = 0; byte < 4; ++byte) {
    Value up = splat(type, 24 - 8 * byte);
    Value high = arith::ShLIOp::create(builder, loc, weights, up);
    Value w = signedWeights ? arith::ShRSIOp::create(builder, loc, high, top).getResult()
                            : arith::ShRUIOp::create(builder, loc, high, top).getResult();
    Value v =
        arith::ShRSIOp::create(builder, loc, arith::ShLIOp::create(builder, loc, bytes, up), top);
    sum = arith::AddIOp::create(builder, loc, sum, arith::MulIOp::create(builder, loc, w, v));
  }
  return sum;
}
