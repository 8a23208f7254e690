// SPDX-License-Identifier: Apache-2.0
//
// From the end of the memory stage to code.
#include "tools/llmc/compiler/Emission.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/llmc/compiler/Diagnostics.h"

using namespace mlir;
using namespace llmc;

Result<std::vector<cpu::CpuLevel>> llmc::levelsOf(const std::string &target) {
  SmallVector<StringRef> names;
  StringRef list = target;
  if (!list.consume_front("cpu:"))
    return errorAt("--target", "", "unknown target '" + escaped(target) + "', expected cpu:LEVEL, for example cpu:native");
  list.split(names, ',');
  std::vector<cpu::CpuLevel> levels;
  for (StringRef name : names) {
    name.consume_front("cpu:");
    std::string error;
    std::optional<cpu::CpuLevel> level = cpu::parseCpuLevel(name, error);
    if (!level)
      return errorAt("--target", "", error);
    levels.push_back(*level);
  }
  return levels;
}

Result<std::string> llmc::emitKernels(ModuleOp module, const cpu::CpuLevel &level, cpu::EmitKind kind, const cpu::EmitOptions &options,
                                      const PipelineOptions &pipeline) {
  DiagnosticCollector diagnostics(*module.getContext());
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  PipelineOptions forLevel = pipeline;
  forLevel.target = "cpu:" + level.name;
  addStages(passes, "memory", "kernel", forLevel);
  if (failed(passes.run(*copy)))
    return diagnostics.error("stage kernel failed");
  FailureOr<SmallVector<char, 0>> code = cpu::emit(*copy, level, kind, options);
  if (failed(code))
    return diagnostics.error("no code could be made for " + level.name);
  return std::string(code->begin(), code->end());
}
