// SPDX-License-Identifier: Apache-2.0
// Layout of a block: scale, minimum (Q4_1), then 32 signed bytes (Q8_0), or 16 bytes whose low
// halves are the values 0 to 15 and whose high halves are 16 to 31.
#include "frontends/gguf/Groups.h"

namespace llmc::gguf {

using model::ElementType;
using model::groupSize;

static bool isFinite(uint16_t half) { return (half & 0x7C00) != 0x7C00; }

bool Group::finite() const { return isFinite(scale) && isFinite(minimum); }

Group unpackBlock(ElementType type, const unsigned char *block) {
  auto half = [&](int i) { return static_cast<uint16_t>(block[i] | block[i + 1] << 8); };
  Group group;
  group.scale = half(0);
  if (type == ElementType::Q8_0) {
    for (int64_t i = 0; i < groupSize; ++i)
      group.codes[i] = block[2 + i] ^ 0x80; // a signed byte plus 128
    return group;
  }
  group.minimum = type == ElementType::Q4_1 ? half(2) : 0;
  const unsigned char *packed = block + (type == ElementType::Q4_1 ? 4 : 2);
  for (int64_t i = 0; i < groupSize / 2; ++i) {
    group.codes[i] = packed[i] & 15;
    group.codes[i + groupSize / 2] = packed[i] >> 4;
  }
  return group;
}

} // namespace llmc::gguf
