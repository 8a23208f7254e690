// SPDX-License-Identifier: Apache-2.0
//
// The products of a linear's projections. Every output has one chain of fused multiply-adds along K
// (times k_split, summed left to right), whatever rows and panels are multiplied together.
#pragma once

#include "passes/tile/GroupPanels.h"

namespace llmc::tiles {

/// A projection of a linear region: linear or lm_head.
struct Projection {
  mlir::Value input, result;
  mlir::FlatSymbolRefAttr weight, bias;
};

class LinearProducts {
public:
  /// Of projections with one input, and weights of one type.
  LinearProducts(KernelBuilder &k, llvm::ArrayRef<Projection> projections);

  /// [projection][panel][row], each a tile of a panel's rows. `rows` compute the input where it is in
  /// floats.
  llvm::SmallVector<mlir::Value> of(llvm::ArrayRef<mlir::Value> panels,
                                    llvm::ArrayRef<mlir::Value> lines,
                                    llvm::MutableArrayRef<RowBody> rows);

  /// Panels unpacked once for many rows: so many of `rows` go over them, in tiles of `row_tile` and at the end of
  /// ever fewer. None, unless two tiles are full, or one that `across` makes too tall for a panel as it lies.
  mlir::Value rowsUnpacked(mlir::Value rows);
  /// `k_tile` columns are unpacked at a time and `across` rows of a panel multiplied, so that both
  /// stay in the nearest caches; sums wait in memory between two parts. `store` gets [projection][row].
  using Store = llvm::function_ref<void(llvm::ArrayRef<mlir::Value> sums, llvm::ArrayRef<mlir::Value> lines)>;
  void ofUnpacked(mlir::Value panel, mlir::Value rows, Store store);
  /// Whether the schedule asks for it, and the weights can be unpacked.
  bool unpacks() const;
  /// Whether a tile of rows multiplies a part of a panel at a time, which only an unpacked one offers.
  bool splits() const {
    return inGroups() && k.schedule.getAcross() > 0 && k.schedule.getAcross() < panelRows();
  }

  bool inGroups() const { return bool(type.getGroups()); }
  int64_t panelRows() const { return type.getLayout().getPanelRows(); }
  int64_t outputs() const { return type.getRows(); }

private:
  llvm::SmallVector<mlir::Value> ofGroups(mlir::ValueRange panels, mlir::ValueRange lines,
                                          int64_t from, int64_t to);
  llvm::SmallVector<mlir::Value> ofFloats(llvm::ArrayRef<mlir::Value> panels,
                                          llvm::ArrayRef<mlir::Value> lines,
                                          llvm::MutableArrayRef<RowBody> rows, int64_t from,
                                          int64_t to);

  KernelBuilder &k;
  llvm::SmallVector<Projection> projections;
  llm::WeightType type;
};

/// Where the last of the whole tiles from `from` on ends, at or before `to`.
mlir::Value wholeTiles(KernelBuilder &k, mlir::Value from, mlir::Value to, int64_t tile);
/// Rows that share loaded weights go in tiles of `tile` rows, and what is left in ever smaller ones, down to two.
void overRowTiles(KernelBuilder &k, mlir::Value from, mlir::Value to, int64_t tile,
                  llvm::function_ref<void(mlir::Value line, int64_t count)> body);
/// How many of `rows` such tiles have: at most one row is left.
mlir::Value rowsInTiles(KernelBuilder &k, mlir::Value rows, int64_t tile);

} // namespace llmc::tiles
