// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best, right now, with so many threads: the ceilings that `llmc bench`
// holds its figures against.
#pragma once

#include "dialects/model/Error.h"
#include "tools/llmc/ceilings/Loops.h"
#include <vector>

namespace llmc::ceilings {

// Of all threads together, a second; 0 where it could not be measured.
struct Ceilings {
  double read = 0;      // bytes of the whole ground, the better of one stream and of four a thread
  uint32_t streams = 0; // which it was
  double readWeights = 0; // the same over the weights alone, which a cache may hold for the most part
  double f32 = 0;       // operations, a multiply-add being two
  double int8 = 0;
};

struct Stretch {
  const void *memory = nullptr;
  uint64_t bytes = 0;
};

// What may be read: the memory itself that what is judged reads, so that it is as large, of the same kind, and as much of it in
// caches. And which instructions may be used.
struct Ground {
  Stretch weights;
  uint64_t features = 0; // LLMC_CPU_*
  std::vector<Stretch> keysAndValues = {};
};

// Takes some 50 ms, or two passes over memory that is so large that they take longer.
Result<Ceilings> measureCeilings(const Ground &ground, uint32_t threads);

} // namespace llmc::ceilings
