// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of views, fields of the step descriptor, and the page table walk.
#include "llmc/abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/codegen/cpu/KernelLowering.h"
#include <cstddef>

using namespace mlir;
using namespace llmc::cpu;
using namespace llmc::tile;

/// Views promise the alignment of an element, no more; unaligned vector loads cost nothing where
/// they stay in a cache line.
static unsigned alignmentOf(Type vector) {
  return getElementTypeOrSelf(vector).getIntOrFloatBitWidth() / 8;
}

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

Value KernelLowering::offsetBy(Value pointer, Type element, Value offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{toI64(offset)});
}

Value KernelLowering::offsetBy(Value pointer, Type element, int64_t offset) {
  if (offset == 0)
    return pointer;
  Value constant = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                            builder.getI64IntegerAttr(offset));
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{constant});
}

/// `invariant`: nothing writes there while the kernel runs (the descriptor, the tables).
Value KernelLowering::load(Type type, Value pointer, bool invariant) {
  unsigned alignment = isa<VectorType>(type) ? alignmentOf(type) : 0;
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignment, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, invariant);
}

void KernelLowering::store(Value value, Value pointer) {
  LLVM::StoreOp::create(builder, loc, value, pointer,
                        isa<VectorType>(value.getType()) ? alignmentOf(value.getType()) : 0);
}

Value KernelLowering::addressOf(ViewType view, Value base, ValueRange indices) {
  Value offset;
  for (auto [dimension, position] : llvm::enumerate(indices)) {
    int64_t stride = view.getStride(int64_t(dimension));
    Value part = stride == 1
                     ? position
                     : arith::MulIOp::create(builder, loc, position, index(stride)).getResult();
    offset = offset ? arith::AddIOp::create(builder, loc, offset, part).getResult() : part;
  }
  return offsetBy(base, view.getElementType(), offset);
}

Value KernelLowering::addressOf(LoadOp load) {
  Values indices;
  for (Value position : load.getIndices())
    indices.push_back(lookup(position));
  return addressOf(load.getView().getType(), lookup(load.getView()), indices);
}

/// A count that may be negative or too large, as a number from 0 to `width`.
Value KernelLowering::clampedCount(Value valid, int64_t width) {
  Value least = arith::MaxSIOp::create(builder, loc, valid, index(0));
  return arith::MinSIOp::create(builder, loc, least, index(width));
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
  return value.getType() == type
             ? value
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
  if (tile.getRank() == 2) // read by its dot
    return success();
  auto inPlace = [&](Operation *user) {
    auto dot = dyn_cast<DotOp>(user);
    return dot && readsInPlace(op, dot);
  };
  if (!op->use_empty() && llvm::all_of(op->getUsers(), inPlace))
    return success();
  FailureOr<Type> type = convertType(op, tile);
  if (failed(type))
    return failure();
  Type moved = movedAs(*type);
  Value loaded = op.getValid()
                     ? loadPrefix(cast<VectorType>(moved), addressOf(op), op.getValid())
                     : load(moved, addressOf(op));
  values.map(op.getResult(), withType(*type, loaded));
  return success();
}

/// Few machines mask elements below 32 bits: a count known here makes a shorter load of them instead.
Value KernelLowering::loadPrefix(VectorType type, Value place, Value valid) {
  int64_t width = type.getDimSize(0);
  std::optional<int64_t> count = constantCount(valid, width);
  if (!count || alignmentOf(type) >= 4)
    return LLVM::MaskedLoadOp::create(
        builder, loc, type, place, prefixMask(lookup(valid), width), zeros(type),
        builder.getI32IntegerAttr(alignmentOf(type)), /*nontemporal=*/nullptr);
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
  Values indices;
  for (Value position : op.getIndices())
    indices.push_back(lookup(position));
  Value value = lookup(op.getValue()),
        place = addressOf(op.getView().getType(), lookup(op.getView()), indices);
  value = withType(movedAs(value.getType()), value);
  if (op.getValid() && !isa<VectorType>(value.getType()))
    return refuse(op) << "found valid on one element, expected a tile";
  if (op.getValid())
    storePrefix(value, place, op.getValid());
  else
    store(value, place);
  return success();
}

Value KernelLowering::stepField(size_t offset, Type type) {
  return load(type, offsetBy(step, builder.getI8Type(), int64_t(offset)), /*invariant=*/true);
}

void KernelLowering::lowerExtent(ExtentOp op) {
  auto count = [&](size_t offset) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        stepField(offset, builder.getI32Type()));
  };
  switch (op.getExtent()) {
  case Extent::One:
    return values.map(op.getResult(), index(1));
  case Extent::Rows:
    return values.map(op.getResult(), count(offsetof(llmc_step, n_rows)));
  case Extent::Outputs:
    return values.map(op.getResult(), count(offsetof(llmc_step, n_outputs)));
  case Extent::Sequences:
    return values.map(op.getResult(), count(offsetof(llmc_step, n_sequences)));
  }
}

static size_t offsetOf(Field field) {
  switch (field) {
  case Field::Tokens:
    return offsetof(llmc_step, tokens);
  case Field::Positions:
    return offsetof(llmc_step, positions);
  case Field::Slots:
    return offsetof(llmc_step, slots);
  case Field::RowSequence:
    return offsetof(llmc_step, row_sequence);
  case Field::OutputRows:
    return offsetof(llmc_step, output_rows);
  case Field::SequenceRow:
    return offsetof(llmc_step, sequence_row);
  case Field::SequenceBase:
    return offsetof(llmc_step, sequence_base);
  }
  llvm_unreachable("every field has an offset");
}

void KernelLowering::lowerStepRead(StepReadOp op) {
  Type i32 = builder.getI32Type();
  Value array = stepField(offsetOf(op.getField()), step.getType());
  Value element = load(i32, offsetBy(array, i32, lookup(op.getIndex())), /*invariant=*/true);
  values.map(op.getResult(),
             arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element).getResult());
}

/// block = pages[sequence_page[sequence] + chunk / page_chunks] * page_chunks + chunk % page_chunks
void KernelLowering::lowerKVChunk(KVChunkOp op) {
  Type i8 = builder.getI8Type(), i32 = builder.getI32Type(), indexType = builder.getIndexType();
  KVType kv = op.getKv().getType();
  bool key = op.getPart() == KVPart::Key;
  // Chunks and pages are counted in 32 bits, where a division takes half the time.
  Value chunk = arith::IndexCastOp::create(builder, loc, i32, lookup(op.getChunk()));
  Value pageChunks = stepField(offsetof(llmc_step, page_chunks), i32);
  Value pageOfSequence = arith::DivUIOp::create(builder, loc, chunk, pageChunks);
  Value within = arith::RemUIOp::create(builder, loc, chunk, pageChunks);
  Value firstPages = stepField(offsetof(llmc_step, sequence_page), step.getType());
  Value firstPage =
      load(i32, offsetBy(firstPages, i32, lookup(op.getSequence())), /*invariant=*/true);
  Value pageIndex = arith::AddIOp::create(
      builder, loc, arith::IndexCastOp::create(builder, loc, indexType, firstPage),
      arith::IndexCastUIOp::create(builder, loc, indexType, pageOfSequence));
  Value pages = stepField(offsetof(llmc_step, pages), step.getType());
  Value page = load(i32, offsetBy(pages, i32, pageIndex), /*invariant=*/true);
  auto wide = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, indexType, value);
  };
  Value block = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, wide(page), wide(pageChunks)),
      wide(within));
  int64_t width = kv.getWidth(key),
          headElements = kv.getTokenMajor() ? width : width * KVType::kChunk;
  Value base = offsetBy(lookup(op.getKv()), i8,
                        arith::MulIOp::create(builder, loc, block, index(kv.getBlock())));
  base = offsetBy(base, i8, key ? 0 : kv.getKeyBytes());
  values.map(op.getResult(), offsetBy(base, kv.getElement(),
                                      arith::MulIOp::create(builder, loc, lookup(op.getHead()),
                                                            index(headElements))));
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
