// SPDX-License-Identifier: Apache-2.0
//
// Writes one `tile.kernel` anew as a kernel of one warp. It walks the kernel once, in order, and
// emits for each op; values of the kernel are looked up in `values`. Numbers outside tiles are the
// same in all lanes, so control flow never divides the warp but around a lane's own load or store.
// Element i of a tile is in lane i mod 32, as its (i / 32)-th.
#pragma once

#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace llmc::nvptx {

class KernelLowering {
public:
  static constexpr int64_t kWarp = 32;

  /// `builder` stands where the function goes.
  KernelLowering(tile::KernelOp kernel, mlir::OpBuilder builder)
      : kernel(kernel), builder(builder), loc(kernel.getLoc()) {}

  /// On failure the error is reported and the function erased.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// One row of a dot: where it lies, or the elements that each lane holds.
  struct Row {
    mlir::Value address;
    Values held;
  };

  // KernelLowering.cpp: the frame, structure and element-wise ops.
  mlir::LLVM::LLVMFuncOp createFunction();
  void findProgram(mlir::Value first);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerByCloning(mlir::Operation *op);
  mlir::LogicalResult copyRegions(mlir::Operation *op, mlir::OperationState &state);
  mlir::FailureOr<mlir::Type> convertType(mlir::Operation *user, mlir::Type type);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op);

  // LowerMemory.cpp: views, the step, pages.
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  void lowerExtent(tile::ExtentOp op);
  void lowerStepRead(tile::StepReadOp op);
  void lowerKVChunk(tile::KVChunkOp op);
  mlir::Value addressOf(tile::ViewType view, mlir::Value base, mlir::ValueRange indices);
  mlir::Value addressOf(tile::LoadOp load);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Type element, mlir::Value index);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Type element, int64_t index);
  mlir::Value load(mlir::Type type, mlir::Value pointer, bool invariant = false);
  mlir::Value loadWhere(mlir::Value condition, mlir::Type type, mlir::Value pointer);
  void storeWhere(mlir::Value condition, mlir::Value value, mlir::Value pointer);
  mlir::Value isPresent(int64_t slot, int64_t width, mlir::Value end);
  mlir::Value stepField(size_t offset, mlir::Type type);
  mlir::Value clampedCount(mlir::Value valid, int64_t width);

  // LowerTiles.cpp: how elements lie in lanes, trees.
  void lowerBroadcast(tile::BroadcastOp op);
  void lowerIota(tile::IotaOp op);
  void lowerReduce(tile::ReduceOp op);
  mlir::Value combine(tile::Reduction kind, mlir::Value a, mlir::Value b);
  mlir::Value shuffle(mlir::NVVM::ShflKind kind, mlir::Value value, mlir::Value offset);
  Values unpack(mlir::Value laneValue);
  mlir::Value pack(llvm::ArrayRef<mlir::Value> elements);

  // LowerDot.cpp.
  mlir::LogicalResult lowerDot(tile::DotOp op);
  void lowerDotBy(tile::DotOp op, mlir::Value matrix, llvm::ArrayRef<Row> rows);
  Values addLines(tile::DotOp op, mlir::Value matrix, llvm::ArrayRef<Row> rows, int64_t slot,
                  mlir::Value k, int64_t offset, int64_t steps, Values sums);
  mlir::LogicalResult lowerDotByTransposed(tile::DotOp op, mlir::Value matrix,
                                           llvm::ArrayRef<Row> rows);
  mlir::Value elementOf(const Row &row, int64_t slot, mlir::Value lane, int64_t offset);
  static bool readsInPlace(tile::LoadOp load, tile::DotOp dot);

  // LowerDot4.cpp.
  mlir::LogicalResult lowerDot4(tile::Dot4Op op);

  mlir::Value index(int64_t value);
  mlir::Value i32(int64_t value);
  mlir::Value zeros(mlir::Type type);
  mlir::Value toI64(mlir::Value index);
  mlir::Value lookup(mlir::Value value) { return values.lookup(value); }
  /// Elements that a lane holds of a tile of `width`.
  static int64_t slotsOf(int64_t width) {
    return int64_t(llvm::divideCeil(uint64_t(width), uint64_t(kWarp)));
  }
  static int64_t widthOf(mlir::Value tile) {
    return mlir::cast<mlir::RankedTensorType>(tile.getType()).getDimSize(0);
  }

  tile::KernelOp kernel;
  mlir::OpBuilder builder;
  mlir::Location loc; // of the op being lowered
  mlir::IRMapping values;
  mlir::Type pointerType;              // to global memory
  mlir::Value lane, line, inner, step; // all but `step` are of type index
};

} // namespace llmc::nvptx
