// SPDX-License-Identifier: Apache-2.0
// Each loop for processors with AVX2 and for those without, chosen when the program starts.
#include "dialects/model/Halves.h"

#define LLMC_CLONES __attribute__((target_clones("avx2", "default")))

namespace llmc::model {
namespace {

template <typename Convert>
__attribute__((always_inline)) inline void toBits(const float *values, size_t count, void *out,
                                                  Convert convert) {
  for (size_t i = 0; i < count; ++i) {
    const uint16_t bits = convert(values[i]);
    std::memcpy(static_cast<char *>(out) + 2 * i, &bits, sizeof bits);
  }
}

template <typename Convert>
__attribute__((always_inline)) inline void fromBits(const void *from, size_t count, float *values,
                                                    Convert convert) {
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, static_cast<const char *>(from) + 2 * i, sizeof bits);
    values[i] = convert(bits);
  }
}

} // namespace

LLMC_CLONES void toHalves(const float *values, size_t count, void *halves) {
  toBits(values, count, halves, [](float value) { return toHalf(value); });
}
LLMC_CLONES void fromHalves(const void *halves, size_t count, float *values) {
  fromBits(halves, count, values, [](uint16_t bits) { return fromHalf(bits); });
}
LLMC_CLONES void toBFloat16s(const float *values, size_t count, void *bits) {
  toBits(values, count, bits, [](float value) { return toBFloat16(value); });
}
LLMC_CLONES void fromBFloat16s(const void *bits, size_t count, float *values) {
  fromBits(bits, count, values, [](uint16_t one) { return fromBFloat16(one); });
}

} // namespace llmc::model
