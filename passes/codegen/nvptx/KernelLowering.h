// SPDX-License-Identifier: Apache-2.0
//
// Writes one `tile.kernel` anew as a kernel of one warp. Numbers outside tiles are the same in all
// lanes, so control flow never divides the warp but around a lane's own load or store. Element i of
// a tile is in lane i mod 32, as its (i / 32)-th.
#pragma once

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/codegen/llvm/KernelWalk.h"

namespace llmc::nvptx {

class KernelLowering : public KernelWalk {
public:
  static constexpr int64_t kWarp = 32;

  /// `builder` stands where the function goes.
  KernelLowering(tile::KernelOp kernel, mlir::OpBuilder builder)
      : KernelWalk(kernel, builder, "an NVIDIA GPU") {}

  /// On failure the error is reported and the function erased.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

private:
  /// One row of a dot: where it lies, or the elements that each lane holds.
  struct Row {
    mlir::Value address;
    Values held;
  };

  // KernelLowering.cpp: the frame, and what KernelWalk asks.
  mlir::LLVM::LLVMFuncOp createFunction();
  void findProgram(mlir::Value first);
  mlir::LogicalResult lowerTileOp(mlir::Operation *op) override;
  mlir::Type tileType(int64_t width, mlir::Type element) override;
  mlir::FailureOr<mlir::Attribute> tileConstant(mlir::arith::ConstantOp op,
                                                mlir::Type type) override;

  // LowerMemory.cpp: loads and stores.
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::Value loadWhere(mlir::Value condition, mlir::Type type, mlir::Value pointer);
  void storeWhere(mlir::Value condition, mlir::Value value, mlir::Value pointer);
  mlir::Value isPresent(int64_t slot, int64_t width, mlir::Value end);

  // LowerTiles.cpp: how elements lie in lanes, trees.
  void lowerBroadcast(tile::BroadcastOp op);
  void lowerIota(tile::IotaOp op);
  void lowerReduce(tile::ReduceOp op);
  mlir::Value shuffle(mlir::NVVM::ShflKind kind, mlir::Value value, mlir::Value offset);
  Values unpack(mlir::Value laneValue);
  mlir::Value pack(llvm::ArrayRef<mlir::Value> elements);

  // LowerDot.cpp.
  mlir::LogicalResult lowerDot(tile::DotOp op);
  void lowerDotBy(tile::DotOp op, mlir::Value matrix, llvm::ArrayRef<Row> rows);
  Values addLines(tile::DotOp op, mlir::Value matrix, llvm::ArrayRef<Row> rows, int64_t slot,
                  mlir::Value k, int64_t offset, int64_t steps, Values sums);
  void keepBeyond(mlir::Value k, llvm::ArrayRef<mlir::Value> ends,
                  llvm::ArrayRef<mlir::Value> before, llvm::MutableArrayRef<mlir::Value> sums);
  mlir::LogicalResult lowerDotByTransposed(tile::DotOp op, mlir::Value matrix,
                                           llvm::ArrayRef<Row> rows);
  mlir::Value elementOf(const Row &row, int64_t slot, mlir::Value lane, int64_t offset);
  mlir::Value extended(mlir::Value stored);

  // LowerDot4.cpp.
  mlir::LogicalResult lowerDot4(tile::Dot4Op op);

  mlir::Value i32(int64_t value);
  /// Elements that a lane holds of a tile of `width`.
  static int64_t slotsOf(int64_t width) {
    return int64_t(llvm::divideCeil(uint64_t(width), uint64_t(kWarp)));
  }
  static int64_t widthOf(mlir::Value tile) {
    return mlir::cast<mlir::RankedTensorType>(tile.getType()).getDimSize(0);
  }

  mlir::Value lane; // of type index
};

} // namespace llmc::nvptx
