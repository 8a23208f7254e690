// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic.
#include "tools/ptx-interpreter/Forms.h"

#include <algorithm>

namespace llmc::ptx {

namespace {

using Wide = __int128;

/// The value of a cell as a mathematical integer.
Wide whole(uint64_t cell, ScalarType type) {
  return isSigned(type) ? Wide(signExtend(cell, type)) : Wide(zeroExtend(cell, type));
}

uint64_t saturated(Wide value, ScalarType type) {
  Wide most = (Wide(1) << (sizeInBits(type) - 1)) - 1;
  return extend(uint64_t(std::clamp(value, -most - 1, most)), type);
}

uint64_t add(const Instruction &i, const uint64_t *s) {
  if (i.modifiers.saturate)
    return saturated(whole(s[0], i.type) + whole(s[1], i.type), i.type);
  return extend(s[0] + s[1], i.type);
}

uint64_t subtract(const Instruction &i, const uint64_t *s) {
  if (i.modifiers.saturate)
    return saturated(whole(s[0], i.type) - whole(s[1], i.type), i.type);
  return extend(s[0] - s[1], i.type);
}

uint64_t multiplyLow(const Instruction &i, const uint64_t *s) {
  return extend(s[0] * s[1], i.type);
}

uint64_t multiplyHigh(const Instruction &i, const uint64_t *s) {
  // Two 64-bit unsigned factors can exceed a signed 128-bit product; unsigned wraps to the right
  // bits.
  auto product = static_cast<unsigned __int128>(whole(s[0], i.type)) *
                 static_cast<unsigned __int128>(whole(s[1], i.type));
  return extend(uint64_t(product >> sizeInBits(i.type)), i.type);
}

uint64_t multiplyWide(const Instruction &i, const uint64_t *s) {
  return uint64_t(whole(s[0], i.type) * whole(s[1], i.type));
}

uint64_t multiplyAddLow(const Instruction &i, const uint64_t *s) {
  return extend(s[0] * s[1] + s[2], i.type);
}

uint64_t multiplyAddHigh(const Instruction &i, const uint64_t *s) {
  return extend(multiplyHigh(i, s) + s[2], i.type);
}

uint64_t multiplyAddWide(const Instruction &i, const uint64_t *s) {
  return multiplyWide(i, s) + s[2];
}

uint64_t multiply24(const Instruction &i, const uint64_t *s) {
  auto low24 = [&](uint64_t cell) {
    return i.type == ScalarType::S32 ? uint64_t(int64_t(cell << 40) >> 40) : lowBits(cell, 24);
  };
  return extend(low24(s[0]) * low24(s[1]), i.type);
}

uint64_t divide(const Instruction &i, const uint64_t *s) {
  Wide divisor = whole(s[1], i.type);
  // Division by zero has no defined value on the device; all ones is what current devices give.
  return divisor == 0 ? extend(~uint64_t(0), i.type)
                      : extend(uint64_t(whole(s[0], i.type) / divisor), i.type);
}

uint64_t remainder(const Instruction &i, const uint64_t *s) {
  Wide divisor = whole(s[1], i.type);
  return divisor == 0 ? extend(s[0], i.type)
                      : extend(uint64_t(whole(s[0], i.type) % divisor), i.type);
}

uint64_t minimum(const Instruction &i, const uint64_t *s) {
  return extend(uint64_t(std::min(whole(s[0], i.type), whole(s[1], i.type))), i.type);
}

uint64_t maximum(const Instruction &i, const uint64_t *s) {
  return extend(uint64_t(std::max(whole(s[0], i.type), whole(s[1], i.type))), i.type);
}

uint64_t absolute(const Instruction &i, const uint64_t *s) {
  int64_t value = signExtend(s[0], i.type);
  return extend(value < 0 ? 0 - uint64_t(value) : uint64_t(value), i.type);
}

uint64_t negate(const Instruction &i, const uint64_t *s) { return extend(0 - s[0], i.type); }

uint64_t absoluteDifference(const Instruction &i, const uint64_t *s) {
  Wide left = whole(s[0], i.type), right = whole(s[1], i.type);
  return extend(uint64_t((left > right ? left - right : right - left) + whole(s[2], i.type)),
                i.type);
}

/// Four products of bytes added up, each side with its own sign.
uint64_t dotBytes(const Instruction &i, const uint64_t *s) {
  uint64_t sum = s[2];
  for (unsigned byte = 0; byte < 4; ++byte) {
    uint64_t left = lowBits(s[0] >> (8 * byte), 8), right = lowBits(s[1] >> (8 * byte), 8);
    int64_t a = i.type == ScalarType::S32 ? int64_t(int8_t(left)) : int64_t(left);
    int64_t b = i.sourceType == ScalarType::S32 ? int64_t(int8_t(right)) : int64_t(right);
    sum += uint64_t(a * b);
  }
  return lowBits(sum, 32);
}

constexpr std::string_view words = "u16 u32 u64 s16 s32 s64";
constexpr std::string_view narrow = "u16 u32 s16 s32";

constexpr Form rows[] = {
    {"add", words, "", "", "dss", Action::Evaluate, add},
    {"add.sat", "s32", "", "", "dss", Action::Evaluate, add},
    {"sub", words, "", "", "dss", Action::Evaluate, subtract},
    {"sub.sat", "s32", "", "", "dss", Action::Evaluate, subtract},
    {"mul.lo", words, "", "", "dss", Action::Evaluate, multiplyLow},
    {"mul.hi", words, "", "", "dss", Action::Evaluate, multiplyHigh},
    {"mul.wide", narrow, "", "", "dss", Action::Evaluate, multiplyWide},
    {"mul24.lo", "u32 s32", "", "", "dss", Action::Evaluate, multiply24},
    {"mad.lo", words, "", "", "dsss", Action::Evaluate, multiplyAddLow},
    {"mad.hi", words, "", "", "dsss", Action::Evaluate, multiplyAddHigh},
    {"mad.wide", narrow, "", "", "dsss", Action::Evaluate, multiplyAddWide},
    {"sad", words, "", "", "dsss", Action::Evaluate, absoluteDifference},
    {"dp4a", "u32 s32", "u32 s32", "", "dsss", Action::Evaluate, dotBytes},
    {"div", words, "", "", "dss", Action::Evaluate, divide},
    {"rem", words, "", "", "dss", Action::Evaluate, remainder},
    {"min", words, "", "", "dss", Action::Evaluate, minimum},
    {"max", words, "", "", "dss", Action::Evaluate, maximum},
    {"abs", "s16 s32 s64", "", "", "ds", Action::Evaluate, absolute},
    {"neg", "s16 s32 s64", "", "", "ds", Action::Evaluate, negate},
};

} // namespace

FormList integerForms() { return {rows, sizeof rows / sizeof *rows}; }

} // namespace llmc::ptx
