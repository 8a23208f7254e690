// SPDX-License-Identifier: Apache-2.0
//
// From lowered kernels to machine code, in this process and for any level, whatever machine this
// is.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "passes/codegen/cpu/CpuLevel.h"
#include <string>
#include <vector>

namespace llmc::cpu {

enum class EmitKind { Object, Assembly, LLVMIR };

struct EmitOptions {
  /// Put before the name of every kernel, so that several levels can share an artefact.
  std::string prefix;
  /// Tests only: LLVM's ThreadSanitizer pass over the kernels, and calls for the wide accesses that
  /// it skips. The result needs the __tsan_* functions.
  bool instrumentThreads = false;
};

/// Code of the `llvm.func`s of `module`; its other ops are not looked at. Position-independent,
/// hidden symbols, one section a function; needs memcpy, memmove and memset at most. The same input
/// gives the same bytes. Errors are reported at the module, LLVM's fatal ones included. One call at
/// a time: others wait.
mlir::FailureOr<llvm::SmallVector<char, 0>> emit(mlir::ModuleOp module, const CpuLevel &level,
                                                 EmitKind kind, const EmitOptions &options = {});

/// The same as some objects, which threads make side by side where the module's context allows any; how many, and which kernel is
/// in which, depends on the kernels alone. At least one.
mlir::FailureOr<std::vector<std::string>> emitObjects(mlir::ModuleOp module, const CpuLevel &level,
                                                      const EmitOptions &options = {});

} // namespace llmc::cpu
