// SPDX-License-Identifier: Apache-2.0
//
// What a module says about the model beside its graphs: the attribute `llm.limits`, which ends up in the artefact.
#pragma once

#include "dialects/model/ModelConfig.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc {

inline constexpr llvm::StringLiteral kLimitsAttrName = "llm.limits";

void setLimits(mlir::ModuleOp module, const model::ModelConfig &config, int64_t maxPositions, int64_t maxSequences);

} // namespace llmc
