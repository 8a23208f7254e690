// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of views.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/codegen/cpu/KernelLowering.h"

using namespace mlir;
using namespace llmc::cpu;
using namespace llmc::tile;

/// How numbers travel through masks and shuffles: LLVM takes bf16 apart there, through a library.
static Type movedAs(Type type) {
  if (!getElementTypeOrSelf(type).isBF16())
    return type;
  Type i16 = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.clone(i16) : i16;
}

/// A count that is known here.
static std::optional<int64_t> constantCount(Value valid, int64_t width) {
  APInt count;
  if (!matchPattern(valid, m_ConstantInt(&count)))
    return std::nullopt;
  return std::clamp<int64_t>(count.getSExtValue(), 0, width);
}

/// `valid` ones, then zeros.
Value KernelLowering::prefixMask(Value valid, int64_t width) {
  Type i32 = builder.getI32Type();
  Value count = arith::IndexCastOp::create(builder, loc, i32, clampedCount(valid, width));
  SmallVector<int32_t> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(int32_t(i));
  Value iota = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(vectorOf(width, i32), ArrayRef<int32_t>(lanes)));
  Value bound = vector::BroadcastOp::create(builder, loc, iota.getType(), count);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iota, bound);
}

Value KernelLowering::withType(Type type, Value value) {
  return value.getType() == type ? value
                                 : arith::BitcastOp::create(builder, loc, type, value).getResult();
}

LogicalResult KernelLowering::lowerLoad(LoadOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!tile && op.getValid())
    return refuse(op) << "found valid on one element, expected a tile";
  if (!tile) {
    Type type = op.getResult().getType();
    values.map(op.getResult(), withType(type, load(movedAs(type), addressOf(op))));
    return success();
  }
  if (isReadByDots(op))
    return success();
  FailureOr<Type> type = convertType(op, tile);
  if (failed(type))
    return failure();
  Type moved = movedAs(*type);
  Value loaded = op.getValid() ? loadPrefix(cast<VectorType>(moved), addressOf(op), op.getValid())
                               : load(moved, addressOf(op));
  values.map(op.getResult(), withType(*type, loaded));
  return success();
}

static constexpr uint32_t kIntoSecondCache = 2; // LLVM's locality: the first cache has too few misses in flight

void KernelLowering::prefetch(Value place, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kCacheLine)
    LLVM::Prefetch::create(builder, loc, offsetBy(place, builder.getI8Type(), at), /*rw=*/0,
                           /*hint=*/kIntoSecondCache, /*cache=*/1);
}

/// Few machines mask elements below 32 bits: a count known here makes a shorter load of them
/// instead.
Value KernelLowering::loadPrefix(VectorType type, Value place, Value valid) {
  int64_t width = type.getDimSize(0);
  std::optional<int64_t> count = constantCount(valid, width);
  if (!count || alignmentOf(type) >= 4)
    return LLVM::MaskedLoadOp::create(builder, loc, type, place, prefixMask(lookup(valid), width),
                                      zeros(type), builder.getI32IntegerAttr(alignmentOf(type)),
                                      /*nontemporal=*/nullptr);
  if (*count == 0)
    return zeros(type);
  Value prefix = load(vectorOf(*count, type.getElementType()), place);
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(std::min(i, *count));
  return vector::ShuffleOp::create(builder, loc, prefix, zeros(prefix.getType()), lanes);
}

void KernelLowering::storePrefix(Value vector, Value place, Value valid) {
  auto type = cast<VectorType>(vector.getType());
  int64_t width = type.getDimSize(0);
  std::optional<int64_t> count = constantCount(valid, width);
  if (!count || alignmentOf(type) >= 4)
    LLVM::MaskedStoreOp::create(builder, loc, vector, place, prefixMask(lookup(valid), width),
                                alignmentOf(type));
  else if (*count > 0)
    store(slice(vector, 0, *count), place);
}

LogicalResult KernelLowering::lowerStore(StoreOp op) {
  Value value = lookup(op.getValue()), place = addressOf(op);
  value = withType(movedAs(value.getType()), value);
  if (op.getValid() && !isa<VectorType>(value.getType()))
    return refuse(op) << "found valid on one element, expected a tile";
  ViewType view = op.getView().getType();
  if (int64_t stride = view.getStride(view.getRank() - 1); isa<VectorType>(value.getType()) && stride != 1)
    storeColumn(value, place, stride, op.getValid());
  else if (op.getValid())
    storePrefix(value, place, op.getValid());
  else
    store(value, place);
  return success();
}

/// One element a line: through the stack, since no level scatters all widths.
void KernelLowering::storeColumn(Value vector, Value place, int64_t stride, Value valid) {
  auto type = cast<VectorType>(vector.getType());
  Type element = type.getElementType();
  int64_t width = type.getDimSize(0);
  Value buffer = stackBuffer(llvm::divideCeil(width * alignmentOf(type), 4));
  store(vector, buffer);
  Value end = valid ? clampedCount(lookup(valid), width) : index(width);
  auto lines = scf::ForOp::create(builder, loc, index(0), end, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(lines.getBody());
  Value line = lines.getInductionVar();
  Value target = offsetBy(place, element, arith::MulIOp::create(builder, loc, line, index(stride)));
  store(load(element, offsetBy(buffer, element, line)), target);
}

/// All of a kernel's together: threads of a host may have small stacks.
static constexpr int64_t kMostScratch = 128 << 10;

LogicalResult KernelLowering::lowerScratch(ScratchOp op) {
  ViewType view = op.getResult().getType();
  int64_t bytes = view.getLineBytes();
  if ((scratchBytes += bytes) > kMostScratch)
    return refuse(op) << "found " << scratchBytes << " bytes of scratch in the kernel, expected at most " << kMostScratch
                      << ": it lies on the stack";
  values.map(op.getResult(), stackBuffer((bytes + 3) / 4));
  return success();
}

/// Memory of this program for `elements` floats, taken once per call.
Value KernelLowering::stackBuffer(int64_t elements) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  Value count = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                         builder.getI64IntegerAttr(elements));
  return LLVM::AllocaOp::create(builder, loc, step.getType(), builder.getF32Type(), count,
                                /*alignment=*/64);
}
