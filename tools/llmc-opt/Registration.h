// SPDX-License-Identifier: Apache-2.0
//
// The dialects that llmc's tools read and print.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace llmc {

/// Registers llm, tile and the upstream dialects that pass through the road, with what bufferless
/// lowering and translation to LLVM IR need.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace llmc
