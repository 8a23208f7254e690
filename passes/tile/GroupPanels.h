// SPDX-License-Identifier: Apache-2.0
//
// Weights in groups: panels of integer codes with a scale, and maybe a minimum, for each 32 columns.
// How they lie is said in LLMBase.td (layout of a weight).
#pragma once

#include "passes/tile/GroupBody.h"

namespace llmc::tiles {

/// A weight in panels of groups.
class GroupPanels {
public:
  GroupPanels(KernelBuilder &k, mlir::FlatSymbolRefAttr symbol);

  /// Products [panel][row] of some panels with some rows: each `panelRows` sums over the groups from
  /// `from` to below `to`, one fused multiply-add a group (two where there is a minimum), groups in
  /// order.
  llvm::SmallVector<mlir::Value> products(QuantizedRow &rows, mlir::ValueRange panels,
                                          mlir::ValueRange lines, int64_t from, int64_t to);

  /// `count` groups of a panel with a byte for each code, signed where it has 8 bits, and scales in f32, `across` rows of the panel
  /// after the other: [panelRows / across][count] blocks.
  struct Unpacked {
    mlir::Value memory;
    int64_t count, across;
  };
  Unpacked unpackedMemory(int64_t count, int64_t across);
  /// Fills such memory with groups `from`, ... to below `to`.
  void unpack(const Unpacked &unpacked, mlir::Value panel, mlir::Value from, mlir::Value to);
  /// What comes behind the groups that are unpacked, in the same panel or the next, is unpacked after
  /// them: some lines of it are prefetched with each group that a tile of rows multiplies, from line
  /// `line` on.
  struct Behind {
    mlir::Value panel, line; ///< `line` null: nothing is prefetched
  };
  /// Adds to `sums` [row], of rows `part * across` ... of the panel, what `products` would for these
  /// groups: the same numbers in the same order.
  llvm::SmallVector<mlir::Value> unpackedProducts(QuantizedRow &rows, const Unpacked &unpacked,
                                                  mlir::Value part, mlir::ValueRange lines,
                                                  mlir::Value from, mlir::Value to,
                                                  mlir::ValueRange sums, const Behind &behind);
  /// Lines that `unpackedProducts` prefetches for each group.
  static constexpr int64_t kLinesAGroup = 2;

  /// Four neighbouring columns of one row of the weight: column 4 * word of a group, and with 4 bits,
  /// where `high`, column 16 + 4 * word.
  mlir::Value columns(mlir::Value row, mlir::Value group, int64_t word, bool high);
  int64_t words() const { return format.getBits(); }

private:
  /// Some rows of a panel in one group: a view, the indices of the group's block in it, `width` rows
  /// from `first` on (null: 0).
  struct Place {
    mlir::Value view;
    llvm::SmallVector<mlir::Value> block;
    int64_t width;
    bool unpacked;
    mlir::Value first;
    int64_t ahead = 0; ///< bytes to what is prefetched with it; 0: nothing
  };
  using EachWord = llvm::function_ref<void(int64_t word, mlir::Value weights)>;

  /// Calls `use` for columns 4 * word ... 4 * word + 3 of a group, words 0 to 7 in some order.
  void eachWord(const Place &place, EachWord use);
  void prefetchBehind(const Behind &behind, mlir::Value from, mlir::Value to, mlir::Value group);
  /// So many elements into the block, after as many as `first` says.
  mlir::Value loadAt(const Place &place, mlir::Value view, int64_t elements);
  /// Scales come after the codes, minimums after the scales; as f32.
  mlir::Value factors(const Place &place, bool minimum);
  mlir::Value half(mlir::Value panel, mlir::Value group, mlir::Value row, bool minimum);
  mlir::Value intTile(int64_t width, int64_t value);
  /// The terms of one group added to `sums` [row] of one panel.
  llvm::SmallVector<mlir::Value> addGroup(QuantizedRow &rows, const Place &place,
                                          mlir::ValueRange lines, mlir::Value group,
                                          mlir::ValueRange sums);
  void dot(llvm::SmallVectorImpl<mlir::Value> &sums, QuantizedRow &rows, mlir::ValueRange lines,
           mlir::Value group, int64_t word, mlir::Value weights, bool areSigned);

  KernelBuilder &k;
  llm::GroupType format;
  mlir::Value view; ///< [panels, groups, words of a block] of i32
  int64_t panelRows, groups;
};

} // namespace llmc::tiles
