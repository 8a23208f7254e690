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

/// Runs the kernel stage on a copy of `module`; `emit` makes code of it.
template <typename Emit>
static auto emitLowered(ModuleOp module, const cpu::CpuLevel &level, const PipelineOptions &pipeline, Emit emit)
    -> Result<std::decay_t<decltype(*emit(module))>> {
  DiagnosticCollector diagnostics(*module.getContext());
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  PipelineOptions forLevel = pipeline;
  forLevel.target = "cpu:" + level.name;
  addStages(passes, "memory", "kernel", forLevel);
  if (failed(passes.run(*copy)))
    return diagnostics.error("stage kernel failed");
  auto code = emit(*copy);
  if (failed(code))
    return diagnostics.error("no code could be made for " + level.name);
  return std::move(*code);
}

Result<std::string> llmc::emitText(ModuleOp module, const cpu::CpuLevel &level, cpu::EmitKind kind, const PipelineOptions &pipeline) {
  return emitLowered(module, level, pipeline, [&](ModuleOp lowered) -> FailureOr<std::string> {
    FailureOr<SmallVector<char, 0>> code = cpu::emit(lowered, level, kind);
    if (failed(code))
      return failure();
    return std::string(code->begin(), code->end());
  });
}

Result<std::vector<std::string>> llmc::emitObjects(ModuleOp module, const cpu::CpuLevel &level, const cpu::EmitOptions &options,
                                                   const PipelineOptions &pipeline) {
  return emitLowered(module, level, pipeline, [&](ModuleOp lowered) {
    MLIRContext &context = *lowered.getContext();
    const bool had = context.isMultithreadingEnabled();
    context.enableMultithreading();
    auto objects = cpu::emitObjects(lowered, level, options);
    context.enableMultithreading(had);
    return objects;
  });
}
