// SPDX-License-Identifier: Apache-2.0
//
// The one builder of modules: a ModelConfig, whatever file it came from, becomes an `llm` module
// with the graphs prefill, decode and verify. Weights are named, never read, so a config alone is
// enough.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/model/Error.h"
#include "dialects/model/ModelConfig.h"
#include "dialects/model/WeightSource.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmc {

struct ModuleOptions {
  /// Rows of the rope table: the longest sequence that the module can run. 0: as many as the config
  /// allows.
  int64_t maxPositions = 0;
  llm::KVLayout kvLayout = llm::KVLayout::HeadMajor;
  /// The file that the config was read from; ends up in the location of each op.
  std::string file;
  /// Where weights are stored: a matrix gets the type of its stored format. Null: all are f32.
  const model::WeightSource *weights = nullptr;
};

/// The module of `config`, verified. Symbols are canonical names (`@layers.3.q`, cache
/// `@layers.3.kv`, table `@rope`) and each op is located by its canonical name. Loads the dialects
/// it needs into `context`.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildModule(mlir::MLIRContext &context,
                                                      const model::ModelConfig &config,
                                                      const ModuleOptions &options = {});

} // namespace llmc
