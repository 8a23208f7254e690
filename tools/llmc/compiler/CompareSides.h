// SPDX-License-Identifier: Apache-2.0
//
// The two sides of a comparison: an opened artefact, and the module that its commands were made of,
// built again with the options that the artefact's manifest tells.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "frontends/Open.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/LoadedModel.h"
#include "tools/llmc/compiler/Compare.h"

namespace llmc::compare {

/// One command of the artefact and the region that it was made of.
struct CommandPair {
  llm::FusedOp region;
  const llmc_command *command;
  llvm::SmallVector<uint16_t>
      resultOperands; ///< operand of each tensor result of the region, in order
};

struct GraphPair {
  std::string name; ///< "prefill"
  std::vector<CommandPair> commands;
};

struct Sides {
  tool::LoadedModel loaded;
  OpenedModel opened;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<GraphPair> graphs; ///< as artifact.graphs

  const llmc_artifact &artifact() const { return inspect::artifactOf(loaded.model.get()); }
};

Result<Sides> openSides(const CompareRequest &request);

} // namespace llmc::compare
