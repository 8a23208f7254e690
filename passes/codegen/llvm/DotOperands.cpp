// SPDX-License-Identifier: Apache-2.0
//
// When a `tile.dot` may read what was loaded before it, and what it refuses.
#include "mlir/IR/TypeUtilities.h"
#include "passes/codegen/llvm/KernelWalk.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::tile;

/// Whether `load` can be read where `dot` stands: nothing is stored in between.
static bool isUnchangedUntil(LoadOp load, DotOp dot) {
  Operation *end = load->getBlock()->findAncestorOpInBlock(*dot);
  auto stores = [](Operation *op) {
    return op->walk([](StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  for (Operation *op = load->getNextNode(); op != end; op = op->getNextNode())
    if (stores(op))
      return false;
  return end == dot || !stores(end);
}

/// Whether `dot` can take the elements of its row from memory. A masked row can only where the dot
/// stops at the same place.
static bool readsInPlace(LoadOp load, DotOp dot) {
  if (dot.getMatrix() == load.getResult() ||
      llvm::is_contained(dot.getAccumulators(), load.getResult()))
    return false;
  bool stopsThere = dot.getValid().size() == 1 && dot.getValid().front() == load.getValid();
  if (load.getValid() && (dot.getTransposed() || !stopsThere))
    return false;
  return isUnchangedUntil(load, dot);
}

bool KernelWalk::isReadByDots(LoadOp load) {
  if (cast<RankedTensorType>(load.getResult().getType()).getRank() == 2)
    return true;
  return !load->use_empty() && llvm::all_of(load->getUsers(), [&](Operation *user) {
    auto dot = dyn_cast<DotOp>(user);
    return dot && readsInPlace(load, dot);
  });
}

LoadOp KernelWalk::rowInMemory(Value row) {
  return values.contains(row) ? LoadOp() : row.getDefiningOp<LoadOp>();
}

int64_t llmc::lineStride(DotOp op) {
  ViewType view = op.getMatrix().getDefiningOp<LoadOp>().getView().getType();
  return view.getStride(view.getRank() - 2);
}

Type llmc::matrixElement(DotOp op) { return getElementTypeOrSelf(op.getMatrix().getType()); }

LogicalResult KernelWalk::checkDot(DotOp op) {
  auto matrix = op.getMatrix().getDefiningOp<LoadOp>();
  const Value computed[] = {op.getRows().front(), op.getAccumulators().front()};
  for (Value operand : computed)
    if (!getElementTypeOrSelf(operand.getType()).isF32())
      return refuse(op) << "found " << operand.getType() << ", expected elements of type f32";
  if (!isa<FloatType>(matrixElement(op)) && !matrixElement(op).isInteger(8))
    return refuse(op) << "found " << matrix.getResult().getType()
                      << ", expected elements of type f32, bf16, f16 or i8";
  if (!isUnchangedUntil(matrix, op)) {
    InFlightDiagnostic error =
        refuse(op) << "found a tile.store between the matrix's load and the dot, expected none";
    error.attachNote(matrix.getLoc()) << "the matrix is loaded here, but read by the dot";
    return error;
  }
  for (Type type : op.getResultTypes())
    if (failed(convertType(op, type)))
      return failure();
  return success();
}
