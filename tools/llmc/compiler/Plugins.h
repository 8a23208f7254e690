// SPDX-License-Identifier: Apache-2.0
//
// Pass plug-ins at named places: a shared object in MLIR's plug-in format whose passes run at the end of a stage.
#pragma once

#include "dialects/model/Error.h"
#include "mlir/Pass/PassManager.h"

namespace llmc {

/// Loads FILE, which registers its passes, and appends every pass that it registered to `passes`.
Status addPlugin(mlir::OpPassManager &passes, const std::string &file);

} // namespace llmc
