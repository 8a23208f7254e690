// SPDX-License-Identifier: Apache-2.0
//
// Replaces every tile.kernel of a module by a function for a CPU.
#include "passes/codegen/cpu/KernelLowering.h"
#include "passes/codegen/cpu/Passes.h"

namespace llmc::cpu {
#define GEN_PASS_DEF_LOWERTILETOCPUPASS
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace llmc::cpu

using namespace mlir;
using namespace llmc::cpu;

namespace {
struct LowerTileToCPU : llmc::cpu::impl::LowerTileToCPUPassBase<LowerTileToCPU> {
  using Base::Base;

  void runOnOperation() override {
    std::string error;
    std::optional<CpuLevel> parsed = parseCpuLevel(level, error);
    if (!parsed) {
      getOperation().emitError() << error;
      return signalPassFailure();
    }
    SmallVector<llmc::tile::KernelOp> kernels(getOperation().getOps<llmc::tile::KernelOp>());
    for (llmc::tile::KernelOp kernel : kernels) {
      if (failed(KernelLowering(kernel, *parsed).run()))
        return signalPassFailure();
      kernel.erase();
    }
  }
};
} // namespace
