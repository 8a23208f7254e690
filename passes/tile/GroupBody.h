// SPDX-License-Identifier: Apache-2.0
//
// Rows and weights in groups: integer codes with a scale for each 32 columns. How they lie is said
// in LLMBase.td (layout of a weight) and here (a row of activations).
#pragma once

#include "passes/tile/KernelBuilder.h"

namespace llmc::tiles {

/// A quantised row of W columns lies in 32-bit words: W bytes of signed codes, then a scale (f32)
/// and then the sum of the codes (i32) for each group.
struct QuantizedRow {
  QuantizedRow(KernelBuilder &k, mlir::Value view, int64_t width)
      : k(k), view(view), groups(width / llm::GroupType::kGroup) {}

  /// Columns 4 * word .. 4 * word + 3 of a group, as one i32.
  mlir::Value codes(mlir::Value line, mlir::Value group, int64_t word);
  mlir::Value scale(mlir::Value line, mlir::Value group);
  mlir::Value sum(mlir::Value line, mlir::Value group);
  /// Rounds 32 values of a group, as `llm.quantize` says, and stores all three.
  void store(mlir::Value tile, mlir::Value line, mlir::Value group);

private:
  KernelBuilder &k;
  mlir::Value view;
  int64_t groups;
};

/// A weight in panels of groups.
class GroupPanels {
public:
  GroupPanels(KernelBuilder &k, mlir::FlatSymbolRefAttr symbol);

  /// Products [panel][row] of some panels with some rows: each `panelRows` sums over the groups from
  /// `from` to below `to`, one fused multiply-add a group (two where there is a minimum), groups in
  /// order.
  llvm::SmallVector<mlir::Value> products(QuantizedRow &rows, mlir::ValueRange panels,
                                          mlir::ValueRange lines, int64_t from, int64_t to);
  /// Four neighbouring columns of one row of the weight: column 4 * word of a group, and with 4 bits,
  /// where `high`, column 16 + 4 * word.
  mlir::Value columns(mlir::Value row, mlir::Value group, int64_t word, bool high);
  int64_t words() const { return format.getBits(); }

private:
  /// Words of one panel: codes of 4 columns (8 bits) or of 4 and 4 (4 bits) for each row.
  mlir::Value codes(mlir::Value panel, mlir::Value group, int64_t word);
  mlir::Value halves(mlir::Value panel, mlir::Value group, bool minimum);
  mlir::Value half(mlir::Value panel, mlir::Value group, mlir::Value row, bool minimum);
  mlir::Value intTile(int64_t value);
  /// The terms of one group added to `sums` [row] of one panel.
  llvm::SmallVector<mlir::Value> addGroup(QuantizedRow &rows, mlir::Value panel,
                                          mlir::ValueRange lines, mlir::Value group,
                                          mlir::ValueRange sums);
  void dot(llvm::SmallVectorImpl<mlir::Value> &sums, QuantizedRow &rows, mlir::ValueRange lines,
           mlir::Value group, int64_t word, mlir::Value weights);

  KernelBuilder &k;
  llm::GroupType format;
  mlir::Value view; ///< [panels, groups, words of a block] of i32
  int64_t panelRows, groups;
};

/// The row-wise region that yields a quantised row.
mlir::LogicalResult buildQuantize(KernelBuilder &k);
/// An embedding from a table in groups.
mlir::LogicalResult buildGroupEmbed(KernelBuilder &k);

} // namespace llmc::tiles
