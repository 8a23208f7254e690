// SPDX-License-Identifier: Apache-2.0
//
// The attribute `llm.limits`.
#include "tools/llmc/compiler/ModuleLimits.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

void llmc::setLimits(ModuleOp module, const model::ModelConfig &config, int64_t maxPositions, int64_t maxSequences) {
  Builder builder(module.getContext());
  auto entry = [&](StringRef key, int64_t value) { return builder.getNamedAttr(key, builder.getI64IntegerAttr(value)); };
  NamedAttribute entries[] = {entry("hidden", config.hiddenSize),
                              entry("vocabulary", config.vocabSize),
                              entry("layers", int64_t(config.numLayers())),
                              entry("max_positions", maxPositions),
                              entry("max_sequences", maxSequences),
                              builder.getNamedAttr("eos", builder.getDenseI32ArrayAttr(config.eosIds))};
  module->setAttr(kLimitsAttrName, builder.getDictionaryAttr(entries));
}
