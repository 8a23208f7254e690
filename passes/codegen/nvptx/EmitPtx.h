// SPDX-License-Identifier: Apache-2.0
//
// From lowered kernels to PTX text, in this process, without CUDA.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace llmc::nvptx {

/// PTX of the one `gpu.module` of `module`, for the chip and the PTX version of its `#nvvm.target`;
/// its other ops are not looked at. An fma is one only where the kernel says so; division and
/// square root are rounded to nearest. The same input gives the same text. Errors are reported at
/// the module, LLVM's fatal ones included.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp module);

} // namespace llmc::nvptx
