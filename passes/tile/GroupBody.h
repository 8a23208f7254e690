// SPDX-License-Identifier: Apache-2.0
//
// Rows in groups: integer codes with a scale for each 32 columns. Weights in groups: GroupPanels.h.
#pragma once

#include "passes/tile/KernelBuilder.h"

namespace llmc::tiles {

/// A quantised row of W columns lies in 32-bit words: W bytes of signed codes, then for each group a
/// scale (f32), the sum of the codes (i32), and scale * sum (f32), which a minimum is multiplied by.
struct QuantizedRow {
  QuantizedRow(KernelBuilder &k, mlir::Value view, int64_t width)
      : k(k), view(view), groups(width / llm::GroupType::kGroup) {}

  /// Columns 4 * word .. 4 * word + 3 of a group, as one i32.
  mlir::Value codes(mlir::Value line, mlir::Value group, int64_t word);
  mlir::Value scale(mlir::Value line, mlir::Value group);
  mlir::Value sum(mlir::Value line, mlir::Value group);
  mlir::Value scaledSum(mlir::Value line, mlir::Value group);
  struct Place {
    mlir::Value line, group;
  };
  /// Rounds the 32 values of some groups, as `llm.quantize` says, and stores all four of each.
  void store(mlir::ValueRange tiles, llvm::ArrayRef<Place> places);

private:
  /// The word of a group in the first, second or third list behind the codes.
  mlir::Value word(mlir::Value group, int64_t list);

  KernelBuilder &k;
  mlir::Value view;
  int64_t groups;
};

/// The row-wise region that yields a quantised row.
mlir::LogicalResult buildQuantize(KernelBuilder &k);
/// An embedding from a table in groups.
mlir::LogicalResult buildGroupEmbed(KernelBuilder &k);

} // namespace llmc::tiles
