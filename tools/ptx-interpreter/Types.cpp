// SPDX-License-Identifier: Apache-2.0
// Names and sizes of the PTX scalar types.
#include "tools/ptx-interpreter/Types.h"

namespace llmc::ptx {

namespace {
struct NamedType {
  std::string_view name;
  ScalarType type;
  unsigned bytes;
};
constexpr NamedType namedTypes[] = {
    {"pred", ScalarType::Pred, 1},     {"b8", ScalarType::B8, 1},   {"b16", ScalarType::B16, 2},
    {"b32", ScalarType::B32, 4},       {"b64", ScalarType::B64, 8}, {"u8", ScalarType::U8, 1},
    {"u16", ScalarType::U16, 2},       {"u32", ScalarType::U32, 4}, {"u64", ScalarType::U64, 8},
    {"s8", ScalarType::S8, 1},         {"s16", ScalarType::S16, 2}, {"s32", ScalarType::S32, 4},
    {"s64", ScalarType::S64, 8},       {"f16", ScalarType::F16, 2}, {"bf16", ScalarType::BF16, 2},
    {"f32", ScalarType::F32, 4},       {"f64", ScalarType::F64, 8}, {"f16x2", ScalarType::F16x2, 4},
    {"bf16x2", ScalarType::BF16x2, 4},
};
} // namespace

ScalarType scalarTypeFromName(std::string_view name) {
  for (const NamedType &entry : namedTypes)
    if (entry.name == name)
      return entry.type;
  return ScalarType::None;
}

unsigned sizeInBytes(ScalarType type) {
  static constexpr uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 4, 4};
  return sizes[static_cast<unsigned>(type)];
}

} // namespace llmc::ptx
