// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, bit fields, byte permutation, counting; and addresses between spaces, which are
// bit patterns too.
#include "tools/ptx-interpreter/Forms.h"

#include "tools/ptx-interpreter/Memory.h"

#include <algorithm>

namespace llmc::ptx {

namespace {

uint64_t truncated(uint64_t value, ScalarType type) {
  return type == ScalarType::Pred ? value & 1 : zeroExtend(value, type);
}

uint64_t bitAnd(const Instruction &i, const uint64_t *s) { return truncated(s[0] & s[1], i.type); }
uint64_t bitOr(const Instruction &i, const uint64_t *s) { return truncated(s[0] | s[1], i.type); }
uint64_t bitXor(const Instruction &i, const uint64_t *s) { return truncated(s[0] ^ s[1], i.type); }
uint64_t bitNot(const Instruction &i, const uint64_t *s) { return truncated(~s[0], i.type); }
uint64_t logicalNot(const Instruction &i, const uint64_t *s) {
  return zeroExtend(s[0], i.type) == 0;
}

uint64_t shiftLeft(const Instruction &i, const uint64_t *s) {
  uint64_t amount = lowBits(s[1], 32);
  return amount >= sizeInBits(i.type) ? 0 : zeroExtend(s[0] << amount, i.type);
}

uint64_t shiftRight(const Instruction &i, const uint64_t *s) {
  uint64_t amount = lowBits(s[1], 32), bits = sizeInBits(i.type);
  if (isSigned(i.type))
    return extend(uint64_t(signExtend(s[0], i.type) >> std::min(amount, bits - 1)), i.type);
  return amount >= bits ? 0 : zeroExtend(s[0], i.type) >> amount;
}

uint64_t funnelAmount(const Instruction &i, uint64_t amount) {
  amount = lowBits(amount, 32);
  return i.modifiers.wrap ? amount & 31 : std::min<uint64_t>(amount, 32);
}

uint64_t funnelLeft(const Instruction &i, const uint64_t *s) {
  uint64_t pair = lowBits(s[0], 32) | s[1] << 32;
  return lowBits((pair << funnelAmount(i, s[2])) >> 32, 32);
}

uint64_t funnelRight(const Instruction &i, const uint64_t *s) {
  uint64_t pair = lowBits(s[0], 32) | s[1] << 32;
  return lowBits(pair >> funnelAmount(i, s[2]), 32);
}

uint64_t extractField(const Instruction &i, const uint64_t *s) {
  unsigned bits = sizeInBits(i.type);
  unsigned position = s[1] & 255, length = s[2] & 255;
  uint64_t value = zeroExtend(s[0], i.type);
  uint64_t field = position >= bits ? 0 : lowBits(value >> position, length);
  if (!isSigned(i.type) || length == 0)
    return length == 0 ? 0 : field;
  // The sign is the field's top bit, or the value's where the field reaches past it.
  unsigned top = std::min(position + length - 1, bits - 1);
  bool negative = value >> top & 1;
  unsigned present = position >= bits ? 0 : std::min(length, bits - position);
  uint64_t filled = negative ? field | ~lowBits(~uint64_t(0), present) : field;
  return extend(filled, i.type);
}

uint64_t insertField(const Instruction &i, const uint64_t *s) {
  unsigned bits = sizeInBits(i.type);
  unsigned position = s[2] & 255, length = s[3] & 255;
  if (position >= bits)
    return zeroExtend(s[1], i.type);
  uint64_t mask = lowBits(~uint64_t(0), length) << position;
  return zeroExtend((s[1] & ~mask) | ((s[0] << position) & mask), i.type);
}

uint64_t maskField(const Instruction &i, const uint64_t *s) {
  uint64_t position = lowBits(s[0], 32), length = lowBits(s[1], 32);
  if (i.modifiers.wrap)
    position &= 31, length &= 31;
  if (position >= 32)
    return 0;
  return lowBits(lowBits(~uint64_t(0), unsigned(std::min<uint64_t>(length, 32))) << position, 32);
}

uint64_t permuteBytes(const Instruction &i, const uint64_t *s) {
  uint64_t pool = lowBits(s[0], 32) | s[1] << 32, result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    unsigned selector = unsigned(s[2] >> (4 * byte)) & 15;
    uint64_t picked = pool >> (8 * (selector & 7)) & 255;
    if (selector & 8)
      picked = picked & 128 ? 255 : 0;
    result |= picked << (8 * byte);
  }
  return result;
}

uint64_t tableLogic(const Instruction &i, const uint64_t *s) {
  uint64_t result = 0;
  for (unsigned minterm = 0; minterm < 8; ++minterm)
    if (s[3] >> minterm & 1)
      result |= (minterm & 4 ? s[0] : ~s[0]) & (minterm & 2 ? s[1] : ~s[1]) &
                (minterm & 1 ? s[2] : ~s[2]);
  return lowBits(result, 32);
}

uint64_t countOnes(const Instruction &i, const uint64_t *s) {
  return uint64_t(__builtin_popcountll(zeroExtend(s[0], i.type)));
}

uint64_t countLeadingZeros(const Instruction &i, const uint64_t *s) {
  uint64_t value = zeroExtend(s[0], i.type), unused = 64 - sizeInBits(i.type);
  return value == 0 ? sizeInBits(i.type) : uint64_t(__builtin_clzll(value)) - unused;
}

uint64_t reverseBits(const Instruction &i, const uint64_t *s) {
  return __builtin_bitreverse64(s[0]) >> (64 - sizeInBits(i.type));
}

uint64_t findHighest(const Instruction &i, const uint64_t *s) {
  uint64_t value = zeroExtend(s[0], i.type);
  if (isSigned(i.type) && signExtend(value, i.type) < 0)
    value = zeroExtend(~value, i.type);
  return value == 0 ? 0xffffffff : 63 - uint64_t(__builtin_clzll(value));
}

uint64_t toGeneric(const Instruction &i, const uint64_t *s) {
  return zeroExtend(genericAddress(i.modifiers.space, zeroExtend(s[0], i.type)), i.type);
}

uint64_t fromGeneric(const Instruction &i, const uint64_t *s) {
  return i.modifiers.space == Space::Global ? s[0] : windowOffset(s[0]);
}

constexpr std::string_view logic = "pred b16 b32 b64";
constexpr std::string_view bits = "b32 b64";
constexpr std::string_view spaces = "global shared shared::cta local param param::entry const";

constexpr Form rows[] = {
    {"and", logic, "", "", "dss", Action::Evaluate, bitAnd},
    {"or", logic, "", "", "dss", Action::Evaluate, bitOr},
    {"xor", logic, "", "", "dss", Action::Evaluate, bitXor},
    {"not", logic, "", "", "ds", Action::Evaluate, bitNot},
    {"cnot", "b16 b32 b64", "", "", "ds", Action::Evaluate, logicalNot},
    {"shl", "b16 b32 b64", "", "", "dss", Action::Evaluate, shiftLeft},
    {"shr", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "", "", "dss", Action::Evaluate, shiftRight},
    {"shf.l", "b32", "", "wrap clamp", "dsss", Action::Evaluate, funnelLeft},
    {"shf.r", "b32", "", "wrap clamp", "dsss", Action::Evaluate, funnelRight},
    {"bfe", "u32 u64 s32 s64", "", "", "dsss", Action::Evaluate, extractField},
    {"bfi", bits, "", "", "dssss", Action::Evaluate, insertField},
    {"bmsk", "b32", "", "wrap clamp", "dss", Action::Evaluate, maskField},
    {"prmt", "b32", "", "", "dsss", Action::Evaluate, permuteBytes},
    {"lop3", "b32", "", "", "dsssi", Action::Evaluate, tableLogic},
    {"popc", bits, "", "", "ds", Action::Evaluate, countOnes},
    {"clz", bits, "", "", "ds", Action::Evaluate, countLeadingZeros},
    {"brev", bits, "", "", "ds", Action::Evaluate, reverseBits},
    {"bfind", "u32 u64 s32 s64", "", "", "ds", Action::Evaluate, findHighest},
    {"cvta.to", "u32 u64", "", spaces, "ds", Action::Evaluate, fromGeneric},
    {"cvta", "u32 u64", "", spaces, "ds", Action::Evaluate, toGeneric},
};

} // namespace

FormList bitForms() { return {rows, sizeof rows / sizeof *rows}; }

} // namespace llmc::ptx
