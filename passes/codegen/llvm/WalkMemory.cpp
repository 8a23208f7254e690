// SPDX-License-Identifier: Apache-2.0
//
// Places in memory, fields of the step descriptor, and the page table walk.
#include "llmc/abi.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/codegen/llvm/KernelWalk.h"
#include <cstddef>

using namespace mlir;
using namespace llmc;
using namespace llmc::tile;

Value KernelWalk::offsetBy(Value pointer, Type element, Value offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{toI64(offset)});
}

Value KernelWalk::offsetBy(Value pointer, Type element, int64_t offset) {
  if (offset == 0)
    return pointer;
  Value constant = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                            builder.getI64IntegerAttr(offset));
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{constant});
}

unsigned KernelWalk::alignmentOf(Type type) {
  return isa<VectorType>(type) ? getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8 : 0;
}

Value KernelWalk::load(Type type, Value pointer, bool invariant) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignmentOf(type), /*isVolatile=*/false,
                              /*isNonTemporal=*/false, invariant);
}

void KernelWalk::store(Value value, Value pointer) {
  LLVM::StoreOp::create(builder, loc, value, pointer, alignmentOf(value.getType()));
}

Value KernelWalk::addressOf(ViewType view, Value base, ValueRange indices) {
  Value offset;
  for (auto [dimension, position] : llvm::enumerate(indices)) {
    int64_t stride = view.getStride(int64_t(dimension));
    Value own = lookup(position);
    Value part =
        stride == 1 ? own : arith::MulIOp::create(builder, loc, own, index(stride)).getResult();
    offset = offset ? arith::AddIOp::create(builder, loc, offset, part).getResult() : part;
  }
  return offsetBy(base, view.getElementType(), offset);
}

Value KernelWalk::addressOf(LoadOp load) {
  return addressOf(load.getView().getType(), lookup(load.getView()), load.getIndices());
}

Value KernelWalk::addressOf(StoreOp store) {
  return addressOf(store.getView().getType(), lookup(store.getView()), store.getIndices());
}

Value KernelWalk::addressOf(PrefetchOp prefetch) {
  return addressOf(prefetch.getView().getType(), lookup(prefetch.getView()), prefetch.getIndices());
}

Value KernelWalk::clampedCount(Value valid, int64_t width) {
  Value least = arith::MaxSIOp::create(builder, loc, valid, index(0));
  return arith::MinSIOp::create(builder, loc, least, index(width));
}

Value KernelWalk::stepField(size_t offset, Type type) {
  return load(type, offsetBy(step, builder.getI8Type(), int64_t(offset)), /*invariant=*/true);
}

void KernelWalk::lowerExtent(ExtentOp op) {
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

void KernelWalk::lowerStepRead(StepReadOp op) {
  Type i32 = builder.getI32Type();
  Value array = stepField(offsetOf(op.getField()), step.getType());
  Value element = load(i32, offsetBy(array, i32, lookup(op.getIndex())), /*invariant=*/true);
  values.map(op.getResult(),
             arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element).getResult());
}

/// block = pages[sequence_page[sequence] + chunk / page_chunks] * page_chunks + chunk % page_chunks
void KernelWalk::lowerKVChunk(KVChunkOp op) {
  Type i8 = builder.getI8Type(), i32 = builder.getI32Type(), indexType = builder.getIndexType();
  auto wide = [&](Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, indexType, value);
  };
  auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto multiply = [&](Value a, Value b) -> Value {
    return arith::MulIOp::create(builder, loc, a, b);
  };
  KVType kv = op.getKv().getType();
  bool key = op.getPart() == KVPart::Key || op.getPart() == KVPart::KeyScale, scales = isScale(op.getPart());
  // Chunks and pages are counted in 32 bits, where a division takes half the time.
  Value chunk = arith::IndexCastOp::create(builder, loc, i32, lookup(op.getChunk()));
  Value pageChunks = stepField(offsetof(llmc_step, page_chunks), i32);
  Value pageOfSequence = arith::DivUIOp::create(builder, loc, chunk, pageChunks);
  Value within = arith::RemUIOp::create(builder, loc, chunk, pageChunks);
  Value firstPages = stepField(offsetof(llmc_step, sequence_page), step.getType());
  Value firstPage =
      load(i32, offsetBy(firstPages, i32, lookup(op.getSequence())), /*invariant=*/true);
  Value pageIndex =
      add(arith::IndexCastOp::create(builder, loc, indexType, firstPage), wide(pageOfSequence));
  Value pages = stepField(offsetof(llmc_step, pages), step.getType());
  Value page = load(i32, offsetBy(pages, i32, pageIndex), /*invariant=*/true);
  Value block = add(multiply(wide(page), wide(pageChunks)), wide(within));
  int64_t width = scales ? 1 : kv.getWidth(key),
          headElements = kv.getTokenMajor() && !scales ? width : width * KVType::kChunk;
  Value base = offsetBy(lookup(op.getKv()), i8, multiply(block, index(kv.getBlock())));
  base = offsetBy(base, i8, (key ? 0 : kv.getKeyBytes()) + (scales ? kv.getElementsBytes(key) : 0));
  values.map(op.getResult(), offsetBy(base, op.getResult().getType().getElementType(),
                                      multiply(lookup(op.getHead()), index(headElements))));
}
