// SPDX-License-Identifier: Apache-2.0
// The loops are dialects/model's.
#include "frontends/safetensors/Convert.h"
#include "dialects/model/Quantize.h"

#include <cstring>

namespace llmc::safetensors {

void convertToF32(const unsigned char *bytes, model::ElementType type, size_t count, float *out) {
  if (type == model::ElementType::F32) {
    std::memcpy(out, bytes, count * sizeof(float));
    return;
  }
  if (type == model::ElementType::F16)
    model::fromHalves(bytes, count, out);
  else
    model::fromBFloat16s(bytes, count, out);
}

} // namespace llmc::safetensors
