// SPDX-License-Identifier: Apache-2.0
//
// The values of a module's `llm.weight` symbols: read from a WeightSource when first asked for,
// sources stacked by rows, kept until the module is done. The packed layout of a weight's type does
// not matter here.
#pragma once

#include "dialects/llm/LLMDialect.h"
#include "dialects/llm/reference/Tensor.h"
#include "dialects/model/WeightSource.h"

namespace llmc::reference {

class Weights {
public:
  explicit Weights(const model::WeightSource &source) : source(source) {}

  /// All of a weight that has sources; one line for a weight [n]. Borrowed until `this` goes.
  Result<const Tensor *> get(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);
  /// The given rows alone, for tables: from the sources or computed.
  Result<Tensor> rows(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol,
                      const std::vector<int32_t> &numbers);

private:
  Result<Tensor> read(llm::WeightOp weight);

  const model::WeightSource &source;
  llvm::StringMap<Tensor> loaded;
};

/// `FILE: PLACE: error: 'llm.op' op TEXT`, the place being the op's name where its location has
/// one.
Error opError(mlir::Operation *op, const std::string &text);

} // namespace llmc::reference
