// SPDX-License-Identifier: Apache-2.0
//
// A target answers four questions: what are you, how would you schedule this region, which passes make a kernel, and what
// bytes is this module. Everything before the kernel stage asks through here and never by name.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

/// What the schedule stage and the cost model need to know.
struct TargetFacts {
  std::string name;           ///< "cpu:x86-64-v3"
  int64_t vectorLanes = 8;    ///< f32 elements of a vector register
  int64_t vectorRegisters = 16;
  double ridgeIntensity = 7.5;///< FLOPs a byte where arithmetic begins to bind (table value; `calibrate` measures)
};

enum class KernelKind { RowWise, Linear, RopeAppend, Attention, Verify };

/// What a fused region is, by the op that shapes its loops.
KernelKind kindOf(llm::FusedOp region);
llvm::StringRef stringify(KernelKind kind);

class Target {
public:
  virtual ~Target() = default;
  virtual const TargetFacts &facts() const = 0;
  /// The schedule of one region, and in `reason` why, in a few words. Fields that fix a reduction tree depend on the kind
  /// and the target alone, never on the graph.
  virtual llm::ScheduleAttr schedule(llm::FusedOp region, KernelKind kind, std::string &reason) const = 0;
  /// Appends the passes that turn every `tile.kernel` of a module into a function of the target.
  virtual void addKernelPasses(mlir::OpPassManager &passes) const = 0;
};

/// A target by name ("cpu:native", "cpu:x86-64-v3", ...), or null and the reason in `error`.
std::unique_ptr<Target> createTarget(llvm::StringRef name, std::string &error);

/// Makes the passes of every target known to llmc-opt.
void registerTargetPasses();

} // namespace llmc
