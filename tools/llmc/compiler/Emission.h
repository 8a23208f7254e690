// SPDX-License-Identifier: Apache-2.0
//
// From the end of the memory stage to code: kernels for one or several instruction-set levels.
#pragma once

#include "tools/llmc/compiler/Compilation.h"
#include "passes/codegen/cpu/EmitObject.h"

namespace llmc {

/// The levels of "cpu:x86-64-v3,x86-64-v4", least demanding first; the first decides the schedules.
Result<std::vector<cpu::CpuLevel>> levelsOf(const std::string &target);

/// The kernels of `module` (end of the memory stage, left as it is) as text for one level.
Result<std::string> emitText(mlir::ModuleOp module, const cpu::CpuLevel &level, cpu::EmitKind kind, const PipelineOptions &pipeline);

/// The same as objects.
Result<std::vector<std::string>> emitObjects(mlir::ModuleOp module, const cpu::CpuLevel &level, const cpu::EmitOptions &options,
                                             const PipelineOptions &pipeline);

} // namespace llmc
