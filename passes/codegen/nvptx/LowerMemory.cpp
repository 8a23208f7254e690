// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores of views, fields of the step descriptor, and the page table walk. A lane that
// has no element neither loads nor stores.
#include "llmc/abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/nvptx/KernelLowering.h"
#include <cstddef>

using namespace mlir;
using namespace llmc::nvptx;
using namespace llmc::tile;

Value KernelLowering::offsetBy(Value pointer, Type element, Value offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{toI64(offset)});
}

Value KernelLowering::offsetBy(Value pointer, Type element, int64_t offset) {
  return offset == 0 ? pointer : offsetBy(pointer, element, index(offset));
}

/// `invariant`: nothing writes there while the kernel runs (the descriptor, its arrays).
Value KernelLowering::load(Type type, Value pointer, bool invariant) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, /*alignment=*/0, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, invariant);
}

/// Zero where the condition does not hold; a null condition holds everywhere.
Value KernelLowering::loadWhere(Value condition, Type type, Value pointer) {
  if (!condition)
    return load(type, pointer);
  auto branch =
      scf::IfOp::create(builder, loc, TypeRange(type), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, loc, load(type, pointer));
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, loc, zeros(type));
  return branch.getResult(0);
}

void KernelLowering::storeWhere(Value condition, Value value, Value pointer) {
  OpBuilder::InsertionGuard guard(builder);
  if (condition) {
    auto branch = scf::IfOp::create(builder, loc, TypeRange(), condition, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  LLVM::StoreOp::create(builder, loc, value, pointer);
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

/// Whether this lane has an element in `slot` of a tile of `width` of which the first `end` count;
/// null: all lanes have. `end` null: all elements count.
Value KernelLowering::isPresent(int64_t slot, int64_t width, Value end) {
  if (!end && (slot + 1) * kWarp <= width)
    return {};
  Value element = arith::AddIOp::create(builder, loc, lane, index(slot * kWarp));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, element,
                               end ? end : index(width));
}

/// The parameter of the kernel that a view is part of.
static BlockArgument parameterOf(Value view) {
  if (auto chunk = view.getDefiningOp<KVChunkOp>())
    view = chunk.getKv();
  return dyn_cast<BlockArgument>(view);
}

LogicalResult KernelLowering::lowerLoad(LoadOp op) {
  auto tile = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (BlockArgument parameter = parameterOf(op.getView());
      parameter && kernel.writes(parameter.getArgNumber()))
    return refuse(op) << "found a load from parameter " << parameter.getArgNumber()
                      << ", which the kernel writes, expected parameters that are read or written: "
                         "lanes do not see each other's stores";
  if (!tile && op.getValid())
    return refuse(op) << "found valid on one element, expected a tile";
  if (!tile) {
    values.map(op.getResult(), load(op.getResult().getType(), addressOf(op)));
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
  if (failed(convertType(op, tile)))
    return failure();
  int64_t width = tile.getDimSize(0);
  Value end = op.getValid() ? clampedCount(lookup(op.getValid()), width) : Value();
  Value own = offsetBy(addressOf(op), tile.getElementType(), lane);
  Values elements;
  for (int64_t slot = 0; slot < slotsOf(width); ++slot)
    elements.push_back(loadWhere(isPresent(slot, width, end), tile.getElementType(),
                                 offsetBy(own, tile.getElementType(), slot * kWarp)));
  values.map(op.getResult(), pack(elements));
  return success();
}

LogicalResult KernelLowering::lowerStore(StoreOp op) {
  Values indices;
  for (Value position : op.getIndices())
    indices.push_back(lookup(position));
  Value place = addressOf(op.getView().getType(), lookup(op.getView()), indices);
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (op.getValid() && !tile)
    return refuse(op) << "found valid on one element, expected a tile";
  if (!tile) {
    Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, index(0));
    storeWhere(isFirst, lookup(op.getValue()), place);
    return success();
  }
  int64_t width = tile.getDimSize(0);
  Value end = op.getValid() ? clampedCount(lookup(op.getValid()), width) : Value();
  Value own = offsetBy(place, tile.getElementType(), lane);
  for (auto [slot, element] : llvm::enumerate(unpack(lookup(op.getValue()))))
    storeWhere(isPresent(int64_t(slot), width, end), element,
               offsetBy(own, tile.getElementType(), int64_t(slot) * kWarp));
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
  Type i32Type = builder.getI32Type();
  Value array = stepField(offsetOf(op.getField()), pointerType);
  Value element =
      load(i32Type, offsetBy(array, i32Type, lookup(op.getIndex())), /*invariant=*/true);
  values.map(op.getResult(),
             arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element).getResult());
}

/// block = pages[sequence_page[sequence] + chunk / page_chunks] * page_chunks + chunk % page_chunks
void KernelLowering::lowerKVChunk(KVChunkOp op) {
  Type i8 = builder.getI8Type(), i32Type = builder.getI32Type(), indexType = builder.getIndexType();
  auto widen = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, indexType, value);
  };
  auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto multiply = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(builder, loc, a, b);
  };
  KVType kv = op.getKv().getType();
  bool key = op.getPart() == KVPart::Key;
  Value chunk = arith::IndexCastOp::create(builder, loc, i32Type, lookup(op.getChunk()));
  Value pageChunks = stepField(offsetof(llmc_step, page_chunks), i32Type);
  Value pageOfSequence = arith::DivUIOp::create(builder, loc, chunk, pageChunks);
  Value within = arith::RemUIOp::create(builder, loc, chunk, pageChunks);
  Value firstPages = stepField(offsetof(llmc_step, sequence_page), pointerType);
  Value firstPage =
      load(i32Type, offsetBy(firstPages, i32Type, lookup(op.getSequence())), /*invariant=*/true);
  Value pages = stepField(offsetof(llmc_step, pages), pointerType);
  Value page = load(i32Type, offsetBy(pages, i32Type, add(widen(firstPage), widen(pageOfSequence))),
                    /*invariant=*/true);
  Value block = add(multiply(widen(page), widen(pageChunks)), widen(within));
  int64_t width = kv.getWidth(key),
          headElements = kv.getTokenMajor() ? width : width * KVType::kChunk;
  Value base = offsetBy(lookup(op.getKv()), i8, multiply(block, index(kv.getBlock())));
  base = offsetBy(base, i8, key ? 0 : kv.getKeyBytes());
  values.map(op.getResult(), offsetBy(base, builder.getF32Type(),
                                      multiply(lookup(op.getHead()), index(headElements))));
}
