// SPDX-License-Identifier: Apache-2.0
// Layout of a block: scale, minimum (Q4_1), then 32 signed bytes (Q8_0), or 16 bytes whose low
// halves are the values 0 to 15 and whose high halves are 16 to 31.
#include "frontends/gguf/Groups.h"

#include <cstring>

namespace llmc::gguf {

using model::ElementType;
using model::GroupRows;
using model::groupSize;

namespace {

uint16_t halfAt(const unsigned char *bytes) {
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

bool isFinite(uint16_t half) { return (half & 0x7C00) != 0x7C00; }

template <ElementType Type> size_t unpack(const unsigned char *block, size_t count, GroupRows out) {
  constexpr bool hasMinimum = Type == ElementType::Q4_1, isByte = Type == ElementType::Q8_0;
  constexpr size_t bytesOfCodes = isByte ? groupSize : groupSize / 2;
  size_t bad = count;
  for (size_t i = 0; i < count; ++i, out.codes += groupSize) {
    out.scales[i] = halfAt(block);
    bool finite = isFinite(out.scales[i]);
    block += 2;
    if (hasMinimum) {
      out.minimums[i] = halfAt(block);
      finite &= isFinite(out.minimums[i]);
      block += 2;
    }
    if (!finite && bad == count)
      bad = i;
    unsigned char stored[bytesOfCodes], codes[groupSize]; // copies, so that nothing aliases
    std::memcpy(stored, block, bytesOfCodes);
    for (size_t k = 0; k < bytesOfCodes; ++k) {
      codes[k] = isByte ? stored[k] ^ 0x80 : stored[k] & 15; // a signed byte plus 128
      if (!isByte)
        codes[k + bytesOfCodes] = stored[k] >> 4;
    }
    std::memcpy(out.codes, codes, groupSize);
    block += bytesOfCodes;
  }
  return bad;
}

} // namespace

size_t unpackBlocks(ElementType type, const unsigned char *blocks, size_t count, GroupRows out) {
  switch (type) {
  case ElementType::Q8_0:
    return unpack<ElementType::Q8_0>(blocks, count, out);
  case ElementType::Q4_0:
    return unpack<ElementType::Q4_0>(blocks, count, out);
  default:
    return unpack<ElementType::Q4_1>(blocks, count, out);
  }
}

} // namespace llmc::gguf
