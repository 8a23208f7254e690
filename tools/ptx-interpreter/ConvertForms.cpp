// SPDX-License-Identifier: Apache-2.0
// cvt in its four kinds (integer or float, to integer or float) and the packed narrowing pairs.
#include "tools/ptx-interpreter/Forms.h"

#include <algorithm>
#include <cmath>

namespace llmc::ptx {

namespace {

/// The least and the largest value of an integer type, as cells.
int64_t leastSigned(ScalarType type) { return -int64_t(uint64_t(1) << (sizeInBits(type) - 2)) * 2; }
uint64_t largest(ScalarType type) {
  return lowBits(~uint64_t(0), sizeInBits(type) - (isSigned(type) ? 1 : 0));
}

uint64_t integerToInteger(const Instruction &i, const uint64_t *s) {
  bool negative = isSigned(i.sourceType) && signExtend(s[0], i.sourceType) < 0;
  uint64_t value = extend(s[0], i.sourceType);
  if (i.modifiers.saturate) {
    if (negative) {
      int64_t least = isSigned(i.type) ? leastSigned(i.type) : 0;
      value = uint64_t(std::max(int64_t(value), least));
    } else {
      value = std::min(value, largest(i.type));
    }
  }
  return extend(value, i.type);
}

uint64_t floatToInteger(const Instruction &i, const uint64_t *s) {
  double value = cellToDouble(flushed(i, s[0], i.sourceType), i.sourceType);
  if (std::isnan(value)) {
    bool wide = i.sourceType == ScalarType::F64 || sizeInBytes(i.type) == 8;
    return wide ? extend(uint64_t(1) << (sizeInBits(i.type) - 1), i.type) : 0;
  }
  value = roundToWhole(value, i.modifiers.rounding);
  double end = std::ldexp(1.0, int(sizeInBits(i.type)) - (isSigned(i.type) ? 1 : 0));
  if (value >= end)
    return largest(i.type);
  if (!isSigned(i.type))
    return value <= 0 ? 0 : uint64_t(value);
  return value <= -end ? uint64_t(leastSigned(i.type)) : uint64_t(int64_t(value));
}

uint64_t saturateFloat(const Instruction &i, uint64_t cell) {
  cell = flushed(i, cell, i.type);
  if (!i.modifiers.saturate)
    return cell;
  double value = cellToDouble(cell, i.type);
  return roundDouble(value > 0 ? std::fmin(value, 1) : 0, i.type, Rounding::NearestEven);
}

uint64_t integerToFloat(const Instruction &i, const uint64_t *s) {
  uint64_t value = extend(s[0], i.sourceType);
  bool negative = isSigned(i.sourceType) && int64_t(value) < 0;
  uint64_t magnitude = negative ? 0 - value : value;
  return saturateFloat(i, roundSignificand(negative, magnitude, 0, i.type, i.modifiers.rounding));
}

uint64_t floatToFloat(const Instruction &i, const uint64_t *s) {
  double value = cellToDouble(flushed(i, s[0], i.sourceType), i.sourceType);
  if (i.modifiers.toWhole)
    return saturateFloat(
        i, roundDouble(roundToWhole(value, i.modifiers.rounding), i.type, Rounding::NearestEven));
  return saturateFloat(i, roundDouble(value, i.type, i.modifiers.rounding));
}

/// Two floats narrowed into one register; the first goes to the upper half.
uint64_t packHalves(const Instruction &i, const uint64_t *s) {
  ScalarType half = i.type == ScalarType::F16x2 ? ScalarType::F16 : ScalarType::BF16;
  auto narrow = [&](uint64_t cell) {
    return roundDouble(asFloat(cell), half, i.modifiers.rounding);
  };
  return narrow(s[0]) << 16 | narrow(s[1]);
}

constexpr std::string_view integers = "u8 u16 u32 u64 s8 s16 s32 s64";
constexpr std::string_view floats = "f16 bf16 f32 f64";

constexpr Form rows[] = {
    {"cvt", integers, integers, "sat", "ds", Action::Evaluate, integerToInteger},
    {"cvt", integers, floats, "rni rzi rmi rpi ftz sat", "ds", Action::Evaluate, floatToInteger},
    {"cvt", floats, integers, "rn rz rm rp sat", "ds", Action::Evaluate, integerToFloat},
    {"cvt", floats, floats, "rn rz rm rp rni rzi rmi rpi ftz sat", "ds", Action::Evaluate,
     floatToFloat},
    {"cvt", "f16x2 bf16x2", "f32", "rn rz", "dss", Action::Evaluate, packHalves},
};

} // namespace

FormList convertForms() { return {rows, sizeof rows / sizeof *rows}; }

} // namespace llmc::ptx
