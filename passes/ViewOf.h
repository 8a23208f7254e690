// SPDX-License-Identifier: Apache-2.0
//
// How a tensor of the graph lies in memory.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/tile/TileDialect.h"

namespace llmc {

/// Rows of a width in 32-bit words: codes of a quantised row, then for each group a scale, the sum of its codes, and the product of
/// both.
inline int64_t quantizedWords(int64_t width) {
  return width / 4 + 3 * (width / llm::GroupType::kGroup);
}

/// Bytes of a line of any of the graph's tensors.
inline int64_t lineBytesOf(mlir::Type tensor) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  int64_t width = type.getDimSize(1);
  return 4 * (llvm::isa<llm::GroupType>(type.getElementType()) ? quantizedWords(width) : width);
}

/// The view that a tensor becomes; a quantised row is one of i32.
inline tile::ViewType viewOf(mlir::Type tensor) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  if (!llvm::isa<llm::GroupType>(type.getElementType()))
    return tile::ViewType::get(type.getContext(), type.getShape(), type.getElementType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape.back() = quantizedWords(shape.back());
  return tile::ViewType::get(type.getContext(), shape,
                             mlir::IntegerType::get(type.getContext(), 32));
}

/// The tensor that stands for `tensor` once kernels are launched: with the elements of its view.
inline mlir::RankedTensorType storedAs(mlir::Type tensor) {
  tile::ViewType view = viewOf(tensor);
  return mlir::RankedTensorType::get(view.getShape(), view.getElementType(),
                                     llvm::cast<mlir::RankedTensorType>(tensor).getEncoding());
}

} // namespace llmc
