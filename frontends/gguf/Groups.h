// SPDX-License-Identifier: Apache-2.0
// One block of Q8_0, Q4_0 or Q4_1 taken apart.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc::gguf {

struct Group {
  uint8_t codes[model::groupSize]; // unsigned: value = scale * (code - bias) + minimum
  uint16_t scale = 0, minimum = 0; // bits of IEEE halves; the minimum is 0 where there is none

  // Neither scale nor minimum is an infinity or a NaN.
  bool finite() const;
};

// `block` holds the bytes of one block of `type`, which has a groupFormat.
Group unpackBlock(model::ElementType type, const unsigned char *block);

} // namespace llmc::gguf
