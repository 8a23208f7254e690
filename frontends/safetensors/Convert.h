// SPDX-License-Identifier: Apache-2.0
// Stored elements to f32. Exact: every F16 and BF16 value, infinities and subnormal numbers
// included, is an f32.
#pragma once

#include "dialects/model/WeightSource.h"

namespace llmc::safetensors {

// `bytes` holds `count` elements, little-endian, at any alignment.
void convertToF32(const unsigned char *bytes, model::ElementType type, size_t count, float *out);

} // namespace llmc::safetensors
