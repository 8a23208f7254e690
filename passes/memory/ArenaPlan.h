// SPDX-License-Identifier: Apache-2.0
//
// First-fit placement of values with lifetimes: plain data, no MLIR, so it can be tested by itself.
#pragma once

#include <cstdint>
#include <vector>

namespace llmc {

/// A value that lives from its birth to its last use, both inclusive (launch numbers), and needs
/// `bytes` a line.
struct ArenaValue {
  int64_t birth = 0;
  int64_t lastUse = 0;
  int64_t bytes = 0;
  int64_t offset = -1; ///< set by planArena
};

/// Places every value at the lowest offset (a multiple of `alignment`) where no value alive at the
/// same time lies. Returns the bytes a line of the whole arena.
int64_t planArena(std::vector<ArenaValue> &values, int64_t alignment);

} // namespace llmc
