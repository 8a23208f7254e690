// SPDX-License-Identifier: Apache-2.0
//
// Collects MLIR's diagnostics as an llmc::Error: the first error is the message, what follows are notes.
#pragma once

#include "dialects/model/Error.h"
#include "mlir/IR/Diagnostics.h"

namespace llmc {

class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) { return collect(diagnostic); }) {}

  /// What was collected, or `otherwise` where nobody said anything.
  Error error(const std::string &otherwise) const {
    return first ? *first : errorAt("llmc", "", otherwise);
  }

private:
  static std::string placeOf(mlir::Location location);
  mlir::LogicalResult collect(mlir::Diagnostic &diagnostic);

  std::optional<Error> first;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace llmc
