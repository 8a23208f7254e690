// SPDX-License-Identifier: Apache-2.0
//
// Pass plug-ins. A plug-in names, in its plug-in info, the pass pipeline that it wants to run: the info's plugin name is parsed as one
// after its passes are registered, so `my-pass` or `my-pass{option=1},other` both work.
#include "tools/llmc/compiler/Plugins.h"
#include "llvm/Support/Error.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

llmc::Status llmc::addPlugin(OpPassManager &passes, const std::string &file) {
  llvm::Expected<PassPlugin> plugin = PassPlugin::load(file);
  if (!plugin)
    return errorAt(escaped(file), "", escaped(llvm::toString(plugin.takeError())) + ", expected a plug-in built against this LLVM");
  plugin->registerPassRegistryCallbacks();
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (failed(parsePassPipeline(plugin->getPluginName(), passes, stream)))
    return errorAt(escaped(file), "",
                   "plug-in name '" + escaped(plugin->getPluginName().str()) + "' is no pass pipeline: " + escaped(message) +
                       ", expected the name of a pass that the plug-in registers");
  return {};
}
