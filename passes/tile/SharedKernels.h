// SPDX-License-Identifier: Apache-2.0
//
// Regions that become the same kernel without being built again: layers repeat, so a model has some
// ten kinds of regions and hundreds of regions.
#pragma once

#include "passes/tile/KernelBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace llmc::tiles {

class SharedKernels {
public:
  /// The launch of `region` by the kernel of an equal one before it, which `kernel` then names; nothing
  /// where there was none, or where a kernel also depends on what lies around its region. Places of
  /// weights are made by `graph`.
  std::optional<Launch> find(llm::FusedOp region, KernelKind kind, mlir::OpBuilder &graph,
                             mlir::FlatSymbolRefAttr &kernel);
  /// Keeps what was built for `region`.
  void keep(llm::FusedOp region, KernelKind kind, const Launch &launch, mlir::FlatSymbolRefAttr kernel);

private:
  /// What a region says, names of weights aside, and what it says it of.
  struct Key {
    std::string text;
    llvm::SmallVector<mlir::FlatSymbolRefAttr> symbols;
    llvm::SmallVector<mlir::Value> values; ///< from outside
  };
  /// A launch's operand: a view of the weight that a symbol of the key names, or (no view) a value of it.
  struct Operand {
    mlir::Type view;
    size_t index;
  };
  struct Entry {
    mlir::FlatSymbolRefAttr kernel;
    Launch launch; ///< without operands and replaced results
    llvm::SmallVector<Operand> operands;
    llvm::SmallVector<unsigned> replaced;
  };

  static Key keyOf(llm::FusedOp region, KernelKind kind);

  llvm::StringMap<Entry> entries;
};

} // namespace llmc::tiles
