// SPDX-License-Identifier: Apache-2.0
//
// Moves every tile.kernel of a module into a gpu.module, as a kernel for NVIDIA GPUs.
#include "passes/codegen/nvptx/KernelLowering.h"
#include "passes/codegen/nvptx/Passes.h"

namespace llmc::nvptx {
#define GEN_PASS_DEF_LOWERTILETONVPTXPASS
#define GEN_PASS_REGISTRATION
#include "passes/codegen/nvptx/Passes.h.inc"
} // namespace llmc::nvptx

using namespace mlir;
using namespace llmc::nvptx;

void llmc::nvptx::registerPasses() { registerNvptxPasses(); }

/// The oldest PTX that has what we emit (NaN-propagating maxima): old drivers should take it.
static constexpr const char *kFeatures = "+ptx70";

/// Chips that the features above are for; other names would end in a fatal error of LLVM.
static bool isKnownChip(StringRef chip) {
  return llvm::is_contained({"sm_80", "sm_86", "sm_87"}, chip);
}

namespace {
struct LowerTileToNVPTX : llmc::nvptx::impl::LowerTileToNVPTXPassBase<LowerTileToNVPTX> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<llmc::tile::KernelOp> kernels(module.getOps<llmc::tile::KernelOp>());
    if (kernels.empty())
      return;
    if (!isKnownChip(chip)) {
      module.emitError() << "unknown chip '" << chip << "', expected sm_80, sm_86 or sm_87";
      return signalPassFailure();
    }
    Attribute target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3,
                                                 "nvptx64-nvidia-cuda", chip, kFeatures);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto gpuModule = gpu::GPUModuleOp::create(builder, module.getLoc(), freeName(module),
                                              ArrayRef<Attribute>(target));
    for (llmc::tile::KernelOp kernel : kernels) {
      builder.setInsertionPointToEnd(gpuModule.getBody());
      FailureOr<LLVM::LLVMFuncOp> function = KernelLowering(kernel, builder).run();
      if (failed(function) || failed(llmc::lowerToLLVM(*function, "nvvm")))
        return signalPassFailure();
      kernel.erase();
    }
  }

  static std::string freeName(ModuleOp module) {
    std::string name = "kernels";
    while (module.lookupSymbol(name))
      name += "_";
    return name;
  }
};
} // namespace
