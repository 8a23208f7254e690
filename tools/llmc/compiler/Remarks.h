// SPDX-License-Identifier: Apache-2.0
//
// Where remarks go: a YAML file, stderr, both or nowhere.
#pragma once

#include "dialects/model/Error.h"
#include "mlir/IR/MLIRContext.h"

namespace llmc {

/// Installs a remark engine in `context`: lines of YAML to `file` (empty: none), and readable lines to stderr where `verbose`.
Status installRemarks(mlir::MLIRContext &context, const std::string &file, bool verbose);

} // namespace llmc
