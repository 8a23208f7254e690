// SPDX-License-Identifier: Apache-2.0
//
// A pass plug-in: every region of two ops or more gets their kinds into its name, "layers.0.o"
// becomes "layers.0.o(linear+add)". A region becomes a kernel launch, so tables of commands then
// tell what was fused. Written against MLIR alone: ops of llmc are known by their names, for their
// C++ classes are inside llmc's programs and a plug-in cannot see them.
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

constexpr StringLiteral kPassName = "example-name-regions";

/// "linear+add"; empty for a region of fewer than two ops. The terminator does not count.
std::string kindsInside(Operation *region) {
  SmallVector<StringRef> kinds;
  for (Operation &op : region->getRegion(0).front().without_terminator())
    kinds.push_back(op.getName().stripDialect());
  return kinds.size() < 2 ? "" : llvm::join(kinds, "+");
}

struct NameRegionsPass : PassWrapper<NameRegionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NameRegionsPass)

  StringRef getArgument() const override { return kPassName; }
  StringRef getDescription() const override {
    return "puts the kinds of a region's ops into its name";
  }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      auto name = op->getAttrOfType<StringAttr>("name");
      if (op->getName().getStringRef() != "llm.fused" || !name)
        return;
      const std::string kinds = kindsInside(op);
      if (kinds.empty() || name.getValue().ends_with(")"))
        return; // nothing to tell, or told before
      op->setAttr("name", StringAttr::get(op->getContext(), name.getValue() + "(" + kinds + ")"));
      remark::passed(op->getLoc(),
                     remark::RemarkOpts::name(kPassName).category(kPassName).subCategory(name))
          << "one kernel for " + kinds;
    });
  }
};

} // namespace

/// What a program that loads the plug-in asks for. llmc takes the name for the passes to run, so it
/// is that of the pass; llmc-opt runs what its command line says.
extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, kPassName.data(), LLVM_VERSION_STRING,
          [] { PassRegistration<NameRegionsPass>(); }};
}
