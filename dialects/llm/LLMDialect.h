// SPDX-License-Identifier: Apache-2.0
//
// The `llm` dialect in C++: ops, types, attributes and the cost interface. See LLMOps.td for what each op means.
#pragma once

#include "dialects/llm/AttentionParts.h"
#include "dialects/llm/LLMCost.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "LLMDialect.h.inc"
#include "LLMEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "LLMAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "LLMTypes.h.inc"
#include "LLMInterfaces.h.inc"
#define GET_OP_CLASSES
#include "LLMOps.h.inc"

namespace llmc::llm {

/// Attribute names on a graph function: which graph it is.
inline constexpr llvm::StringLiteral kGraphAttrName = "llm.graph";

/// What one line of a tensor stands for: its `#llm.per` encoding, or a row of the step where it has none.
Line lineOf(mlir::Type tensor);
/// A tensor of `width` elements a line.
mlir::RankedTensorType lineTensor(mlir::MLIRContext *context, int64_t width, Line line = Line::Row);
/// The same of a quantised row: `!llm.group<bits = 8>`.
mlir::RankedTensorType quantizedTensor(mlir::MLIRContext *context, int64_t width, Line line = Line::Row);
/// Width of a ?xW tensor.
int64_t widthOf(mlir::Type tensor);

/// The weight or cache that `symbol` names, seen from `user`; null when there is none.
WeightOp lookupWeight(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);
CacheOp lookupCache(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);

} // namespace llmc::llm
