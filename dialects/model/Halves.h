// SPDX-License-Identifier: Apache-2.0
// IEEE halves and bfloat16 as bits: to the nearest, ties to even, NaN stays NaN. Without branches,
// so that a loop over them becomes vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace llmc::model {

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint16_t toHalf(float value) {
  const uint32_t bits = bitsOf(value), magnitude = bits & 0x7FFFFFFF;
  // Exponents go down by 112; what is dropped rounds into the kept bits, and into the exponent.
  const uint32_t odd = magnitude >> 13 & 1;
  const uint32_t normal = (magnitude - (112u << 23) + 0xFFF + odd) >> 13;
  // Below 2^-14: the sum's last place is a half's, so the addition rounds.
  const uint32_t small = bitsOf(floatOf(magnitude) + 0.5f) - bitsOf(0.5f);
  const uint32_t large = magnitude > 0x7F800000 ? 0x7E00 : 0x7C00;
  uint32_t half = magnitude < 0x38800000 ? small : normal;
  half = magnitude >= 0x477FF000 ? large : half; // rounds to 2^16 or more
  return uint16_t(half | (bits >> 16 & 0x8000));
}

inline float fromHalf(uint16_t half) {
  const uint32_t magnitude = uint32_t(half & 0x7FFF) << 13;
  const uint32_t small = bitsOf(float(int32_t(half & 0x3FF)) * 0x1p-24f); // subnormal or zero
  uint32_t bits = magnitude < (1u << 23) ? small : magnitude + (112u << 23);
  bits = magnitude >= (31u << 23) ? magnitude | 0x7F800000 : bits;
  return floatOf(bits | uint32_t(half & 0x8000) << 16);
}

inline uint16_t toBFloat16(float value) {
  const uint32_t bits = bitsOf(value);
  const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return uint16_t((bits & 0x7FFFFFFF) > 0x7F800000 ? bits >> 16 | 0x40 : rounded);
}

inline float fromBFloat16(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }

// The same for `count` of them. Bits are little-endian and may lie at any address.
void toHalves(const float *values, size_t count, void *halves);
void fromHalves(const void *halves, size_t count, float *values);
void toBFloat16s(const float *values, size_t count, void *bits);
void fromBFloat16s(const void *bits, size_t count, float *values);

} // namespace llmc::model
