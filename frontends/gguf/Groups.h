// SPDX-License-Identifier: Apache-2.0
// Blocks of Q8_0, Q4_0 or Q4_1 taken apart.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc::gguf {

// The bytes of `count` blocks of `type`, which has a groupFormat, as groups. Returns the first one
// with a scale or minimum that is infinite or not a number; `count` where there is none.
size_t unpackBlocks(model::ElementType type, const unsigned char *blocks, size_t count,
                    model::GroupRows out);

} // namespace llmc::gguf
