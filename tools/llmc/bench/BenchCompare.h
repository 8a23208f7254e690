// SPDX-License-Identifier: Apache-2.0
// Two files of `llmc bench --json` side by side: what became faster or slower by more than it
// spreads.
#pragma once

#include "dialects/model/Error.h"
#include "tools/llmc/bench/Statistics.h"

namespace llmc::tool {

struct ComparedRow {
  std::string name; // the same in both files for the same row
  Spread rate;      // tokens a second
};

// What the second is where the quartiles of the two do not overlap: "faster", "slower", or "".
const char *verdict(const Spread &first, const Spread &second);

Status compareBenches(const std::string &first, const std::string &second);

} // namespace llmc::tool
