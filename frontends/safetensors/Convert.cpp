// SPDX-License-Identifier: Apache-2.0
// Converts without tables or intrinsics; the compiler vectorises the loops well enough for a disk
// to be slower.
#include "frontends/safetensors/Convert.h"

#include <cstring>

namespace llmc::safetensors {

static float fromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float fromBF16(uint16_t bits) { return fromBits(uint32_t(bits) << 16); }

float fromF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31)
    return fromBits(sign | 0x7F800000u | fraction << 13);
  if (exponent != 0)
    return fromBits(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = static_cast<float>(fraction) * 0x1p-24f; // subnormal or zero; exact
  return sign ? -magnitude : magnitude;
}

void convertToF32(const unsigned char *bytes, model::ElementType type, size_t count, float *out) {
  if (type == model::ElementType::F32) {
    std::memcpy(out, bytes, count * sizeof(float));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = static_cast<uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
    out[i] = type == model::ElementType::F16 ? fromF16(bits) : fromBF16(bits);
  }
}

} // namespace llmc::safetensors
