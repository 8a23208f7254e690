// SPDX-License-Identifier: Apache-2.0
// PTX scalar types: name, size, sign, and how a value of a type sits in a 64-bit register cell.
// A cell holds a value zero-extended from the register's declared width; narrower reads cut it
// first.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_TYPES_H
#define LLMC_TOOLS_PTX_INTERPRETER_TYPES_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace llmc::ptx {

enum class ScalarType : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
  F16x2,
  BF16x2
};

/// The type spelled `name` without its dot, or None.
ScalarType scalarTypeFromName(std::string_view name);

/// Bytes in memory; a predicate counts as one.
unsigned sizeInBytes(ScalarType type);

inline unsigned sizeInBits(ScalarType type) { return 8 * sizeInBytes(type); }
inline bool isSigned(ScalarType type) { return type >= ScalarType::S8 && type <= ScalarType::S64; }
inline bool isFloat(ScalarType type) { return type >= ScalarType::F16 && type <= ScalarType::F64; }

/// The low `bits` bits of a value; 64 and more keep all.
inline uint64_t lowBits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

inline uint64_t zeroExtend(uint64_t value, ScalarType type) {
  return lowBits(value, sizeInBits(type));
}

inline int64_t signExtend(uint64_t value, ScalarType type) {
  unsigned unused = 64 - sizeInBits(type);
  return static_cast<int64_t>(value << unused) >> unused;
}

/// The cell form of a result: sign-extended for signed types, since it may go to a wider register.
inline uint64_t extend(uint64_t value, ScalarType type) {
  return isSigned(type) ? static_cast<uint64_t>(signExtend(value, type)) : zeroExtend(value, type);
}

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline float asFloat(uint64_t cell) { return bitCast<float>(static_cast<uint32_t>(cell)); }
inline uint64_t floatCell(float value) { return bitCast<uint32_t>(value); }

} // namespace llmc::ptx

#endif
