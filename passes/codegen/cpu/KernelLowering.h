// SPDX-License-Identifier: Apache-2.0
//
// Writes one `tile.kernel` anew as a function over a range of programs. It walks the kernel once,
// in order, and emits for each op; values of the kernel are looked up in `values`. Loads that only
// `tile.dot` reads are not emitted where they stand: the dot reads memory itself (a rank-2 tile
// never exists).
#pragma once

#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/codegen/cpu/CpuLevel.h"

namespace llmc::cpu {

class KernelLowering {
public:
  KernelLowering(tile::KernelOp kernel, const CpuLevel &level)
      : kernel(kernel), level(level), builder(kernel), loc(kernel.getLoc()) {}

  /// Emits the function beside the kernel. On failure the error is reported and the function
  /// erased.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Pieces = llvm::SmallVector<Values>;

  /// Sums so far, by row and register, and products of bytes not yet widened into them.
  struct Dot4Chain {
    Pieces sums, pairs;
    int64_t held = 0;
  };

  // KernelLowering.cpp: the frame, structure and element-wise ops.
  void loadOperands(mlir::Block *entry);
  void openProgramLoop(mlir::Block *entry);
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerByCloning(mlir::Operation *op);
  mlir::FailureOr<mlir::Type> convertType(mlir::Operation *user, mlir::Type type);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op);

  // LowerMemory.cpp: views, the step, pages.
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::Value loadPrefix(mlir::VectorType type, mlir::Value place, mlir::Value valid);
  void storePrefix(mlir::Value vector, mlir::Value place, mlir::Value valid);
  void lowerExtent(tile::ExtentOp op);
  void lowerStepRead(tile::StepReadOp op);
  void lowerKVChunk(tile::KVChunkOp op);
  mlir::Value addressOf(tile::ViewType view, mlir::Value base, mlir::ValueRange indices);
  mlir::Value addressOf(tile::LoadOp load);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Type element, mlir::Value index);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Type element, int64_t index);
  mlir::Value load(mlir::Type type, mlir::Value pointer, bool invariant = false);
  void store(mlir::Value value, mlir::Value pointer);
  mlir::Value stepField(size_t offset, mlir::Type type);
  mlir::Value withType(mlir::Type type, mlir::Value value);
  mlir::Value clampedCount(mlir::Value valid, int64_t width);
  mlir::Value prefixMask(mlir::Value valid, int64_t width);
  mlir::Value stackBuffer(int64_t elements);

  // LowerTiles.cpp: trees and shuffles.
  void lowerBroadcast(tile::BroadcastOp op);
  void lowerIota(tile::IotaOp op);
  void lowerReduce(tile::ReduceOp op);
  mlir::Value combine(tile::Reduction kind, mlir::Value a, mlir::Value b);
  mlir::Value sumRows(Values rows);
  mlir::Value slice(mlir::Value vector, int64_t first, int64_t width);
  mlir::Value join(Values pieces);

  // LowerDot4.cpp.
  void lowerDot4(tile::Dot4Op op);
  mlir::Value dot4(mlir::Value weights, mlir::Value bytes, mlir::Value sum);
  mlir::Value productPairs(mlir::Value weights, mlir::Value bytes);
  mlir::Value dot4ByHalves(mlir::Value weights, mlir::Value bytes, mlir::Value sum);
  mlir::Value dot4ByByte(mlir::Value weights, mlir::Value bytes, mlir::Value sum);
  mlir::Value callOnBytes(llvm::StringRef name, mlir::Value sum, mlir::Value weights,
                          mlir::Value bytes);
  mlir::Value addProductsOfHalves(mlir::Value sum, mlir::Value a, mlir::Value b);
  mlir::Value splat(mlir::VectorType type, int64_t value);

  // LowerDot.cpp.
  mlir::LogicalResult lowerDot(tile::DotOp op);
  void lowerDotBy(tile::DotOp op, mlir::Value matrix, mlir::ValueRange rows);
  void lowerDotByTransposed(tile::DotOp op, mlir::Value matrix, mlir::ValueRange rows);
  Values sumOverK(tile::DotOp op, mlir::Value matrix, mlir::ValueRange rows,
                  llvm::ArrayRef<int64_t> widths, Values sums);
  mlir::Value loadExtended(mlir::Type element, int64_t width, mlir::Value pointer);
  Values laneSums(tile::DotOp op, mlir::Value matrix, mlir::Value row, int64_t count);
  mlir::Value rowAddress(tile::DotOp op, mlir::Value row);
  static bool readsInPlace(tile::LoadOp load, tile::DotOp dot);

  mlir::Value index(int64_t value);
  mlir::Value zeros(mlir::Type type);
  mlir::Value toI64(mlir::Value index);
  mlir::Value lookup(mlir::Value value) { return values.lookup(value); }
  mlir::VectorType vectorOf(int64_t width, mlir::Type element) {
    return mlir::VectorType::get({width}, element);
  }

  tile::KernelOp kernel;
  const CpuLevel &level;
  mlir::OpBuilder builder;
  mlir::Location loc; // of the op being lowered
  mlir::IRMapping values;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Operation *loop = nullptr; // over programs; stack buffers go before it
  mlir::Value line, inner, step;
  llvm::DenseMap<mlir::Value, mlir::Value> rowBuffers; // rows of dots that were copied to the stack
  llvm::DenseMap<mlir::Operation *, Dot4Chain> openChains; // by the dot4 that comes next
};

/// Whether `load` can be read where `dot` stands: nothing is stored in between.
bool isUnchangedUntil(tile::LoadOp load, tile::DotOp dot);

} // namespace llmc::cpu
