// SPDX-License-Identifier: Apache-2.0
//
// What every kernel kind builds with: a kernel under construction, its parameters, and shorthand
// for indices and tiles. A kernel kind is a function that fills a KernelBuilder from a fused
// region; LowerToTile.cpp launches what comes out.
#pragma once

#include "passes/Target.h"
#include "passes/ViewOf.h"
#include "passes/tile/Passes.h"

namespace llmc::tiles {

/// A finished kernel and how to launch it.
struct Launch {
  tile::Extent extent = tile::Extent::One;
  int64_t inner = 1;
  int64_t chunk = 1;
  llvm::SmallVector<mlir::Value>
      operands; ///< values of the graph, in the order of the kernel's parameters after the step
  llvm::SmallVector<mlir::Type> results;   ///< tensors, the kernel's last parameters
  llvm::SmallVector<mlir::Value> replaced; ///< results of the region that they stand for
};

/// Builds one kernel. Parameters are added as the body asks for them; the written ones come last.
class KernelBuilder {
public:
  KernelBuilder(llm::FusedOp region, tile::KernelOp kernel, mlir::OpBuilder &graph);

  mlir::OpBuilder body; ///< inserts into the kernel
  mlir::Location loc;
  llm::FusedOp region;
  llm::ScheduleAttr schedule;
  Launch launch;

  mlir::Value step() { return kernel.getBody().getArgument(0); }
  /// The parameter for a tensor, a weight or a cache of the graph; the same one when asked again.
  mlir::Value input(mlir::Value tensor);
  mlir::Value weight(mlir::FlatSymbolRefAttr symbol);
  mlir::Value cache(mlir::FlatSymbolRefAttr symbol, llm::KVCacheType type);
  /// A parameter that receives `value`, which the region yields. Inputs may still be added later:
  /// `finish` sorts parameters.
  mlir::Value output(mlir::Value yielded);
  /// Sorts the parameters (read ones first) and completes the kernel's type and the launch.
  void finish();

  // Shorthand. Indices:
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddIOp::create(body, loc, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubIOp::create(body, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, int64_t b) {
    return mlir::arith::MulIOp::create(body, loc, a, index(b));
  }
  mlir::Value div(mlir::Value a, int64_t b) {
    return mlir::arith::DivUIOp::create(body, loc, a, index(b));
  }
  mlir::Value rem(mlir::Value a, int64_t b) {
    return mlir::arith::RemUIOp::create(body, loc, a, index(b));
  }
  mlir::Value programId(tile::Axis axis) {
    return tile::ProgramIdOp::create(body, loc, body.getIndexType(), axis);
  }
  mlir::Value extent(tile::Extent which) {
    return tile::ExtentOp::create(body, loc, body.getIndexType(), which, step());
  }
  mlir::Value read(tile::Field field, mlir::Value at) {
    return tile::StepReadOp::create(body, loc, body.getIndexType(), field, step(), at);
  }
  // Tiles of f32 (or i32):
  mlir::RankedTensorType tileType(int64_t width) {
    return mlir::RankedTensorType::get({width}, body.getF32Type());
  }
  mlir::RankedTensorType intTileType(int64_t width) {
    return mlir::RankedTensorType::get({width}, body.getI32Type());
  }
  mlir::Value scalar(double value) {
    return mlir::arith::ConstantOp::create(body, loc, body.getF32FloatAttr(float(value)));
  }
  mlir::Value filled(int64_t width, double value);
  mlir::Value broadcast(mlir::Value element, int64_t width);
  /// A tile of a view; `valid` null: all of it is there. Stored as bf16, f16 or i8, it comes back as
  /// f32.
  mlir::Value load(mlir::Value view, mlir::ValueRange indices, int64_t width,
                   mlir::Value valid = {});
  /// The line at these indices is read soon; a target may fetch it meanwhile.
  void prefetch(mlir::Value view, mlir::ValueRange indices) {
    tile::PrefetchOp::create(body, loc, view, indices);
  }
  /// The lines of so many elements that begin `ahead` bytes behind these indices.
  void prefetchAhead(mlir::Value view, mlir::ValueRange indices, int64_t ahead, int64_t elements);
  static constexpr int64_t kLineBytes = 64;
  /// The same memory as elements of another type.
  mlir::Value reinterpret(mlir::Value view, mlir::Type element);
  mlir::Value loadScalar(mlir::Value view, mlir::ValueRange indices);
  /// Memory of the program alone.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Tiles of f32 are rounded where the view is of bf16.
  void store(mlir::Value value, mlir::Value view, mlir::ValueRange indices, mlir::Value valid = {});
  /// One head's keys or values of one chunk of a cache: a line for each token, or for each element.
  /// Of scales, a number for each token.
  enum class LineOf { Token, Element };
  mlir::Value chunk(tile::KVPart part, mlir::Value cache, mlir::Value sequence, mlir::Value chunk,
                    mlir::Value head, LineOf line = LineOf::Token);
  /// The first `columns` (0: all) of each line of a rank 2 view, for a dot.
  mlir::Value matrix(mlir::Value view, int64_t columns = 0);
  llvm::SmallVector<mlir::Value> dot(mlir::ValueRange rows, mlir::Value matrix,
                                     mlir::ValueRange accumulators, mlir::ValueRange valid = {});
  llvm::SmallVector<mlir::Value> dotTransposed(mlir::ValueRange rows, mlir::Value matrix,
                                               mlir::ValueRange accumulators);
  mlir::Value reduce(tile::Reduction how, mlir::Value tile);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) {
    return mlir::math::FmaOp::create(body, loc, a, b, c);
  }
  mlir::Value addf(mlir::Value a, mlir::Value b) {
    return mlir::arith::AddFOp::create(body, loc, a, b);
  }
  mlir::Value subf(mlir::Value a, mlir::Value b) {
    return mlir::arith::SubFOp::create(body, loc, a, b);
  }
  mlir::Value mulf(mlir::Value a, mlir::Value b) {
    return mlir::arith::MulFOp::create(body, loc, a, b);
  }
  mlir::Value divf(mlir::Value a, mlir::Value b) {
    return mlir::arith::DivFOp::create(body, loc, a, b);
  }

  mlir::Value minimum(mlir::Value a, mlir::Value b) {
    return mlir::arith::MinUIOp::create(body, loc, a, b);
  }

  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index,
                                                                     mlir::ValueRange carried)>;
  /// for index = from; index < to; index += step, carrying values. `from` and `to` are index
  /// values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, int64_t step,
                                      mlir::ValueRange carried, LoopBody fill);

  /// Calls `fill` for columns [0, width) in tiles of `tile` columns: a loop over the full ones,
  /// then the rest once with the number of valid columns (null in the loop). Carries values.
  using ColumnBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value column, mlir::Value valid, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> columns(int64_t width, int64_t tile, mlir::ValueRange carried,
                                         ColumnBody fill);

  tile::KernelOp kernel;

private:
  mlir::Value parameter(mlir::Value graphValue, mlir::Type type);

  mlir::OpBuilder &graph;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> inputs; ///< graph value, parameter
  llvm::SmallVector<std::pair<mlir::Attribute, mlir::Value>> symbols;
  llvm::SmallVector<mlir::Value> outputs;
};

/// The smallest power of two that is at least `n`.
int64_t powerOfTwoAbove(int64_t n);
/// Columns of an `llm.split`'s row before one of its parts.
int64_t columnsBefore(mlir::OpResult part);
/// What a region reads when it reads `value`: splits inside the region are followed to the row that
/// they are of.
struct PartOfRow {
  mlir::Value row;
  int64_t offset = 0;
};
PartOfRow partOfRow(llm::FusedOp region, mlir::Value value);

//===--- Bodies, used by every kernel kind
//-------------------------------------------------------------------------===//

/// A row-wise value (x, a norm of it, a sum, an activated product ...) tile by tile, straight from
/// what the region reads.
class RowBody {
public:
  explicit RowBody(KernelBuilder &k) : k(k) {}
  /// Computes what must be known of a whole line before its first tile: the factor of each norm
  /// below `value`.
  void prepare(mlir::Value value, mlir::Value line);
  /// `width` columns from `column`; beyond `valid` they are zero (where inputs are).
  mlir::Value tileOf(mlir::Value value, mlir::Value line, mlir::Value column, int64_t width,
                     mlir::Value valid = {});
  /// Declares that `value` is already there as a tile: the result of a dot product.
  void define(mlir::Value value, mlir::Value tile) { defined[value] = tile; }
  void forget() { defined.clear(); }

private:
  mlir::Value activate(llm::Activation activation, mlir::Value x);

  KernelBuilder &k;
  llvm::DenseMap<mlir::Value, mlir::Value> defined;
  llvm::DenseMap<mlir::Operation *, mlir::Value> factors;
};

/// A head-wise value (q or k after split, norm, rotation) as two halves of a head.
struct HeadTiles {
  mlir::Value low, high;
};
class HeadBody {
public:
  explicit HeadBody(KernelBuilder &k) : k(k) {}
  /// Head `head` of `value` in row `row`; `width` is the head's.
  HeadTiles tilesOf(mlir::Value value, mlir::Value row, mlir::Value head, int64_t width);
  /// Tiles are padded to a power of two; so many elements of each half count (null: all).
  mlir::Value validOf(int64_t width);

private:
  KernelBuilder &k;
};

/// Indices first, first + 1, ...
llvm::SmallVector<mlir::Value> linesFrom(KernelBuilder &k, mlir::Value first, int64_t count);

/// Bits of the absolute values: in the order of these, with NaN on top, and a maximum of integers is
/// one instruction.
mlir::Value sizesOf(KernelBuilder &k, mlir::Value tile);
/// What one step of the codes stands for, where the largest of `sizes` gets 127 and no step is below
/// 2^-126, and what numbers are multiplied by: its inverse.
struct CodeScale {
  mlir::Value scale, inverse;
};
CodeScale codeScale(KernelBuilder &k, mlir::Value sizes);
/// Codes of 8 bits as integers (i32) that are `kFloatBits` more: adding 1.5 * 2^23 rounds to nearest
/// even, and the lowest byte is the code.
mlir::Value codesOf(KernelBuilder &k, mlir::Value tile, const CodeScale &scale);
mlir::Value asBytes(KernelBuilder &k, mlir::Value codes);
mlir::Value sumOfCodes(KernelBuilder &k, mlir::Value codes);

/// The bits of 1.5 * 2^23, where floats count by ones: with an integer below 2^22 added to them they are the float of both.
constexpr int64_t kFloatBits = 0x4B400000;
constexpr float kFloatOffset = 12582912;

/// Factor of an RMS norm from the sum of squares: 1 / sqrt(sum / width + eps).
mlir::Value normFactor(KernelBuilder &k, mlir::Value sumOfSquares, int64_t width,
                       mlir::FloatAttr eps);

//===--- Kernel kinds
//----------------------------------------------------------------------------------------------===//

mlir::LogicalResult buildRowWise(KernelBuilder &k);
mlir::LogicalResult buildLinear(KernelBuilder &k);
mlir::LogicalResult buildRopeAppend(KernelBuilder &k);
mlir::LogicalResult buildAttention(KernelBuilder &k);
mlir::LogicalResult buildVerify(KernelBuilder &k);

} // namespace llmc::tiles
