// SPDX-License-Identifier: Apache-2.0
//
// Remarks: a decision that a user may wonder about, in MLIR's own remark engine. `passed` says what was done and why,
// `missed` what was not and why, `analysis` a number. They cost nothing unless a remark engine is installed.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace llmc {

/// The graph that `op` is in, or nothing.
inline llvm::StringRef graphOf(mlir::Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto graph = op->getAttrOfType<mlir::StringAttr>("llm.graph"))
      return graph.getValue();
  return {};
}

inline mlir::remark::RemarkOpts remarkAbout(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef subject) {
  return mlir::remark::RemarkOpts::name(pass).category(pass).subCategory(subject).function(graphOf(op));
}

inline void remarkPassed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef subject, const llvm::Twine &text) {
  mlir::remark::passed(op->getLoc(), remarkAbout(op, pass, subject)) << text.str();
}

inline void remarkMissed(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef subject, const llvm::Twine &text) {
  mlir::remark::missed(op->getLoc(), remarkAbout(op, pass, subject)) << text.str();
}

inline void remarkAnalysis(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef subject, const llvm::Twine &text) {
  mlir::remark::analysis(op->getLoc(), remarkAbout(op, pass, subject)) << text.str();
}

} // namespace llmc
