// SPDX-License-Identifier: Apache-2.0
// Converts without tables or intrinsics; the compiler vectorises the loops well enough for a disk
// to be slower.
#include "frontends/safetensors/Convert.h"
#include "dialects/model/Quantize.h"

#include <cstring>

namespace llmc::safetensors {

void convertToF32(const unsigned char *bytes, model::ElementType type, size_t count, float *out) {
  if (type == model::ElementType::F32) {
    std::memcpy(out, bytes, count * sizeof(float));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = static_cast<uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
    out[i] = type == model::ElementType::F16 ? model::fromHalf(bits) : model::fromBFloat16(bits);
  }
}

} // namespace llmc::safetensors
