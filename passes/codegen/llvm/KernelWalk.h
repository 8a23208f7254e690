// SPDX-License-Identifier: Apache-2.0
//
// Writes one `tile.kernel` anew for a target that goes through LLVM: one walk, in order, that emits
// for each op; values of the kernel are looked up in `values`. Here is what means the same on every
// target: structure, element-wise ops, places in memory, the step, pages. A target says what a tile
// becomes, and adds its frame, loads and stores, and how lanes are summed. Loads that only
// `tile.dot` reads are not emitted where they stand: the dot reads memory itself (a rank-2 tile
// never exists).
#pragma once

#include "dialects/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace llmc {

class KernelWalk {
public:
  using Values = llvm::SmallVector<mlir::Value>;

protected:
  /// `builder` stands where the function goes; `machine` is for errors, as in "a CPU".
  KernelWalk(tile::KernelOp kernel, mlir::OpBuilder builder, llvm::StringRef machine)
      : kernel(kernel), builder(builder), loc(kernel.getLoc()), machine(machine) {}
  virtual ~KernelWalk() = default;

  //===--- What a target says ---------------------------------------------------------------===//

  /// Loads, stores, and ops on whole tiles; lowerByCloning() refuses the others.
  virtual mlir::LogicalResult lowerTileOp(mlir::Operation *op) = 0;
  /// What stands for a tile of rank 1.
  virtual mlir::Type tileType(int64_t width, mlir::Type element) = 0;
  /// The value of a constant tile as one of `type`, what stands for it. Errors are reported.
  virtual mlir::FailureOr<mlir::Attribute> tileConstant(mlir::arith::ConstantOp op,
                                                        mlir::Type type) = 0;

  //===--- KernelWalk.cpp: structure and element-wise ops -----------------------------------===//

  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerByCloning(mlir::Operation *op);
  mlir::LogicalResult copyRegions(mlir::Operation *op, mlir::OperationState &state);
  /// Of a value that ops of the kernel compute.
  mlir::FailureOr<mlir::Type> convertType(mlir::Operation *user, mlir::Type type);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op);
  mlir::Value combine(tile::Reduction kind, mlir::Value a, mlir::Value b);
  mlir::Value index(int64_t value);
  mlir::Value zeros(mlir::Type type);
  mlir::Value toI64(mlir::Value index);
  mlir::Value lookup(mlir::Value value) { return values.lookup(value); }

  //===--- WalkMemory.cpp: places in memory, the step, pages --------------------------------===//

  mlir::Value addressOf(tile::LoadOp load);
  mlir::Value addressOf(tile::StoreOp store);
  mlir::Value addressOf(tile::PrefetchOp prefetch);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Type element, mlir::Value index);
  mlir::Value offsetBy(mlir::Value pointer, mlir::Type element, int64_t index);
  /// `invariant`: nothing writes there while the kernel runs (the descriptor, the tables).
  mlir::Value load(mlir::Type type, mlir::Value pointer, bool invariant = false);
  void store(mlir::Value value, mlir::Value pointer);
  /// Views promise the alignment of an element, no more. 0, LLVM's own, where `type` is no vector.
  static unsigned alignmentOf(mlir::Type type);
  mlir::Value stepField(size_t offset, mlir::Type type);
  /// A count that may be negative or too large, as a number from 0 to `width`.
  mlir::Value clampedCount(mlir::Value valid, int64_t width);
  void lowerExtent(tile::ExtentOp op);
  void lowerStepRead(tile::StepReadOp op);
  void lowerKVChunk(tile::KVChunkOp op);

  //===--- DotOperands.cpp: what a dot reads from memory ------------------------------------===//

  /// Refuses a dot that cannot read its operands: other elements, a matrix that was stored to.
  mlir::LogicalResult checkDot(tile::DotOp op);
  /// The load of a row that was not emitted, since the dot takes its elements from memory.
  tile::LoadOp rowInMemory(mlir::Value row);
  /// Whether only dots use the tile, and each can read it where it stands.
  static bool isReadByDots(tile::LoadOp load);

  tile::KernelOp kernel;
  mlir::OpBuilder builder;
  mlir::Location loc; // of the op being lowered
  mlir::IRMapping values;
  mlir::Value line, inner, step; // the program; the descriptor's address

private:
  mlir::Value addressOf(tile::ViewType view, mlir::Value base, mlir::ValueRange indices);

  llvm::StringRef machine;
};

/// Elements from one line of the dot's matrix to the next.
int64_t lineStride(tile::DotOp op);

/// What the elements of the dot's matrix are stored as: f32, bf16, f16 or i8.
mlir::Type matrixElement(tile::DotOp op);

} // namespace llmc
