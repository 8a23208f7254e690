// SPDX-License-Identifier: Apache-2.0
//
// The `tile` dialect in C++. See TileOps.td for what each op means.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "TileDialect.h.inc"
#include "TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "TileAttributes.h.inc"
#define GET_TYPEDEF_CLASSES
#include "TileTypes.h.inc"
#define GET_OP_CLASSES
#include "TileOps.h.inc"

namespace llmc::tile {

/// Whether it is the scales of a cache's codes.
inline bool isScale(KVPart part) { return part == KVPart::KeyScale || part == KVPart::ValueScale; }

} // namespace llmc::tile
