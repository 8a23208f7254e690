// SPDX-License-Identifier: Apache-2.0
// What only two rows together say: what depth costs, and what a batch gives.
#pragma once

#include "tools/llmc/bench/Row.h"

namespace llmc::tool {

struct Relations {
  // Against the row of depth 0 and the same batch and threads, of a step:
  std::optional<double> extraSeconds;
  // and that time by what reading the keys and values of the depth beside the weights takes.
  std::optional<double> extraOverRead;
  // Tokens a second against batch 1 of the same depth and threads.
  std::optional<double> ofBatchOne;
};

Relations relationsOf(const Row &row, const std::vector<Row> &rows);

} // namespace llmc::tool
