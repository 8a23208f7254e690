// SPDX-License-Identifier: Apache-2.0
//
// One row of the op table, ready to run: what the compiler made of it for each target, and what the
// reference says that each command gives. Without MLIR headers, so that tests are quick to build.
#pragma once

#include "dialects/llm/reference/Step.h"
#include "dialects/llm/reference/Tensor.h"
#include "passes/codegen/artifact/Tables.h"
#include "test/e2e/optable/OpTable.h"

namespace llmc::test {

struct CompiledCase {
  artifact::Tables tables;
  std::vector<float> weights; ///< packed
  std::string tileKernels;    ///< the block programs as text: the same for all targets
  std::string ptx;            ///< of the same block programs; empty where the row has none
  reference::Step step;
  std::vector<reference::Tensor> expected; ///< one for each command
  std::vector<bool> inGroups;              ///< whether that is a quantised row
  std::vector<std::string> names;          ///< of the commands, for messages

  const artifact::Graph &graph() const { return tables.graphs.front(); }
  /// 32-bit elements that command `index` writes; of a quantised row also scales and sums.
  size_t writtenElements(size_t index) const;
};

/// Empty, and the reason in `error`, where a stage refuses.
CompiledCase compileCase(const OpCase &row, std::string &error);

} // namespace llmc::test
