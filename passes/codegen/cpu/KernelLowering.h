// SPDX-License-Identifier: Apache-2.0
//
// Writes one `tile.kernel` anew as a function over a range of programs; tiles become vectors.
#pragma once

#include "passes/codegen/cpu/CpuLevel.h"
#include "passes/codegen/llvm/KernelWalk.h"

namespace llmc::cpu {

constexpr int64_t kCacheLine = 64;

/// Some rows and columns of a dot, whose sums fit into registers.
struct DotBlock {
  tile::DotOp op;
  mlir::Value matrix;                       ///< address of the first of its columns
  int64_t firstRow = 0;                     ///< of those of the dot
  llvm::SmallVector<mlir::Value> rows = {}; ///< addresses
  llvm::SmallVector<int64_t> widths = {};   ///< of its columns, cut into registers
  bool inPairs = false;                     ///< two registers hold even and odd columns
  mlir::Value next = {};                    ///< address of what it fetches meanwhile; null: nothing
  int64_t nextBytes = 0;                    ///< with each step of K
};

class KernelLowering : public KernelWalk {
public:
  KernelLowering(tile::KernelOp kernel, const CpuLevel &level)
      : KernelWalk(kernel, mlir::OpBuilder(kernel), "a CPU"), level(level) {}

  /// Emits the function beside the kernel. On failure the error is reported and the function
  /// erased.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

private:
  using Pieces = llvm::SmallVector<Values>;

  /// Sums so far, by row and register, and products of bytes not yet widened into them.
  struct Dot4Chain {
    Pieces sums, pairs;
    int64_t held = 0;
  };

  // KernelLowering.cpp: the frame, and what KernelWalk asks.
  void loadOperands(mlir::Block *entry);
  void openProgramLoop(mlir::Block *entry);
  mlir::LogicalResult lowerTileOp(mlir::Operation *op) override;
  mlir::Type tileType(int64_t width, mlir::Type element) override;
  mlir::FailureOr<mlir::Attribute> tileConstant(mlir::arith::ConstantOp op,
                                                mlir::Type type) override;

  // LowerMemory.cpp: loads and stores.
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::Value loadPrefix(mlir::VectorType type, mlir::Value place, mlir::Value valid);
  void storePrefix(mlir::Value vector, mlir::Value place, mlir::Value valid);
  void storeColumn(mlir::Value vector, mlir::Value place, int64_t stride, mlir::Value valid);
  mlir::Value withType(mlir::Type type, mlir::Value value);
  mlir::Value prefixMask(mlir::Value valid, int64_t width);
  mlir::LogicalResult lowerScratch(tile::ScratchOp op);
  mlir::Value stackBuffer(int64_t elements);

  // LowerTiles.cpp: trees and shuffles.
  void lowerBroadcast(tile::BroadcastOp op);
  void lowerIota(tile::IotaOp op);
  void lowerReduce(tile::ReduceOp op);
  mlir::Value sumRows(Values rows);
  mlir::Value slice(mlir::Value vector, int64_t first, int64_t width);
  mlir::Value join(Values pieces);

  // LowerDot4.cpp.
  void lowerDot4(tile::Dot4Op op);
  void holdInPlace(Dot4Chain &chain);
  mlir::Value dot4(mlir::Value weights, mlir::Value bytes, mlir::Value sum);
  mlir::Value productPairs(mlir::Value weights, mlir::Value bytes);
  mlir::Value dot4ByHalves(mlir::Value weights, mlir::Value bytes, mlir::Value sum);
  mlir::Value dot4ByByte(mlir::Value weights, mlir::Value bytes, mlir::Value sum, bool signedWeights);
  mlir::Value dot4OfSigned(mlir::Value weights, mlir::Value bytes, mlir::Value sum);
  mlir::Value callOnBytes(llvm::StringRef name, mlir::Value sum, mlir::Value weights,
                          mlir::Value bytes);
  mlir::Value addProductsOfHalves(mlir::Value sum, mlir::Value a, mlir::Value b);
  mlir::Value splat(mlir::VectorType type, int64_t value);

  // LowerDot.cpp.
  mlir::LogicalResult lowerDot(tile::DotOp op);
  void lowerDotBy(tile::DotOp op, mlir::Value matrix, mlir::ValueRange rows);
  void lowerDotByTransposed(tile::DotOp op, mlir::Value matrix, mlir::ValueRange rows);
  mlir::Value loadExtended(mlir::Type element, int64_t width, mlir::Value pointer);
  Values laneSums(tile::DotOp op, mlir::Value matrix, mlir::Value row, int64_t count);
  mlir::Value rowAddress(tile::DotOp op, mlir::Value row);

  // LowerDotBlock.cpp.
  Values sumOverK(DotBlock &block, Values sums);
  Values sumOverDepth(const DotBlock &block, Values sums);
  Values sumUpToCounts(const DotBlock &block, Values sums);
  Values sumUpTo(const DotBlock &block, mlir::Value begin, mlir::Value end, Values sums);
  Values addLoop(const DotBlock &block, mlir::Value begin, mlir::Value end, int64_t steps,
                 Values sums);
  Values addSteps(const DotBlock &block, mlir::Value k, int64_t offset, int64_t steps, Values sums);
  void addProducts(const DotBlock &block, mlir::ValueRange scalars, mlir::Value line, Values &sums);
  void fetchNext(DotBlock &block, int64_t index, int64_t blocks);
  void prefetch(mlir::Value place, int64_t bytes);
  std::pair<mlir::Value, mlir::Value> loadPair(int64_t width, mlir::Value place);
  mlir::Value everyOther(mlir::Value a, mlir::Value b, int64_t from);
  mlir::Value inTurn(mlir::Value even, mlir::Value odd, int64_t from);

  mlir::VectorType vectorOf(int64_t width, mlir::Type element) {
    return mlir::VectorType::get({width}, element);
  }

  const CpuLevel &level;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Operation *loop = nullptr;                     // over programs; stack buffers go before it
  int64_t scratchBytes = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers; // rows of dots that were copied to the stack
  llvm::DenseMap<mlir::Operation *, Dot4Chain> openChains; // by the dot4 that comes next
};

} // namespace llmc::cpu
