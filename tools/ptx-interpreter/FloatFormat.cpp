// SPDX-License-Identifier: Apache-2.0
// Rounding by integer arithmetic on the significand; see the header for the idea.
#include "tools/ptx-interpreter/FloatFormat.h"

#include <algorithm>
#include <cmath>

namespace llmc::ptx {

namespace {

struct Format {
  int precision;     // bits of the significand, hidden one included
  int leastExponent; // of the smallest normal number
  int largestBiased; // exponent field of infinity
};

Format formatOf(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
    return {11, -14, 31};
  case ScalarType::BF16:
    return {8, -126, 255};
  case ScalarType::F64:
    return {53, -1022, 2047};
  default:
    return {24, -126, 255};
  }
}

uint64_t signBit(ScalarType type) { return uint64_t(1) << (sizeInBits(type) - 1); }

uint64_t overflow(bool negative, const Format &format, Rounding rounding) {
  uint64_t infinity = uint64_t(format.largestBiased) << (format.precision - 1);
  bool away = rounding == Rounding::NearestEven || (rounding == Rounding::Up && !negative) ||
              (rounding == Rounding::Down && negative);
  return away ? infinity : infinity - 1;
}

/// Makes an inexact double's last bit one, given the sign of what is missing from it.
double toOdd(double value, double missing) {
  if (missing == 0 || !std::isfinite(value) || std::isnan(missing))
    return value;
  uint64_t bits = bitCast<uint64_t>(value);
  if (bits & 1)
    return value;
  bool beyond = (missing > 0) == (value > 0);
  return bitCast<double>(beyond ? bits + 1 : bits - 1);
}

/// The rounding error of left + right.
double sumError(double left, double right, double sum) {
  double rightPart = sum - left;
  return (left - (sum - rightPart)) + (right - rightPart);
}

/// An exact sum of zero is -0 when rounding down, unless both terms are +0.
bool isNegativeZeroSum(double left, double right, double sum, Rounding rounding) {
  return sum == 0 && rounding == Rounding::Down && (std::signbit(left) || std::signbit(right));
}

} // namespace

uint64_t roundSignificand(bool negative, uint64_t significand, int exponent, ScalarType type,
                          Rounding rounding) {
  Format format = formatOf(type);
  uint64_t sign = negative ? signBit(type) : 0;
  if (significand == 0)
    return sign;
  int top = 63 - __builtin_clzll(significand);
  int lastBit = std::max(exponent + top, format.leastExponent) - (format.precision - 1);
  int shift = lastBit - exponent;
  uint64_t kept = 0, remainder = 0, half = 1;
  if (shift <= 0) {
    kept = significand << -shift;
  } else if (shift < 64) {
    kept = significand >> shift;
    remainder = lowBits(significand, unsigned(shift));
    half = uint64_t(1) << (shift - 1);
  } else {
    // Less than half of the last bit, except that shift 64 leaves exactly half at 2^63.
    remainder = shift == 64 ? significand : 1;
    half = shift == 64 ? uint64_t(1) << 63 : 2;
  }
  bool up = false;
  if (rounding == Rounding::NearestEven)
    up = remainder > half || (remainder == half && remainder && (kept & 1));
  else if (rounding != Rounding::Zero)
    up = remainder && (rounding == Rounding::Down) == negative;
  kept += up;
  int biased = lastBit + (format.precision - 1) - format.leastExponent + 1;
  uint64_t hidden = uint64_t(1) << (format.precision - 1);
  uint64_t bits =
      kept < hidden ? kept : (uint64_t(biased) << (format.precision - 1)) + (kept - hidden);
  if (bits >> (format.precision - 1) >= uint64_t(format.largestBiased))
    bits = overflow(negative, format, rounding);
  return sign | bits;
}

uint64_t canonicalNaN(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
  case ScalarType::BF16:
    return 0x7fff;
  case ScalarType::F64:
    return 0x7ff8000000000000;
  default:
    return 0x7fffffff;
  }
}

uint64_t roundDouble(double value, ScalarType type, Rounding rounding) {
  if (std::isnan(value))
    return canonicalNaN(type);
  uint64_t bits = bitCast<uint64_t>(value);
  bool negative = bits >> 63;
  if (std::isinf(value)) {
    Format format = formatOf(type);
    uint64_t infinity = uint64_t(format.largestBiased) << (format.precision - 1);
    return (negative ? signBit(type) : 0) | infinity;
  }
  int biased = int(bits >> 52 & 0x7ff);
  uint64_t significand = lowBits(bits, 52) | (biased ? uint64_t(1) << 52 : 0);
  return roundSignificand(negative, significand, std::max(biased, 1) - 1075, type, rounding);
}

double cellToDouble(uint64_t cell, ScalarType type) {
  switch (type) {
  case ScalarType::F32:
    return asFloat(cell);
  case ScalarType::F64:
    return bitCast<double>(cell);
  case ScalarType::BF16:
    return asFloat((cell & 0xffff) << 16);
  default:
    break;
  }
  int biased = int(cell >> 10 & 31);
  double fraction = double(cell & 1023);
  double magnitude = biased == 31  ? (fraction ? NAN : INFINITY)
                     : biased == 0 ? std::ldexp(fraction, -24)
                                   : std::ldexp(1024 + fraction, biased - 25);
  return cell & 0x8000 ? -magnitude : magnitude;
}

uint64_t addRounded(double left, double right, ScalarType type, Rounding rounding) {
  double sum = left + right;
  if (isNegativeZeroSum(left, right, sum, rounding))
    sum = -0.0;
  if (type == ScalarType::F64)
    return roundDouble(sum, type, rounding);
  return roundDouble(toOdd(sum, sumError(left, right, sum)), type, rounding);
}

uint64_t multiplyRounded(double left, double right, ScalarType type, Rounding rounding) {
  return roundDouble(left * right, type, rounding); // exact in double for narrower factors
}

uint64_t fusedRounded(double left, double right, double addend, ScalarType type,
                      Rounding rounding) {
  if (type == ScalarType::F64)
    return roundDouble(std::fma(left, right, addend), type, rounding);
  return addRounded(left * right, addend, type, rounding);
}

uint64_t divideRounded(double left, double right, ScalarType type, Rounding rounding) {
  double quotient = left / right;
  if (type == ScalarType::F64 || !std::isfinite(quotient) || right == 0 || std::isinf(right))
    return roundDouble(quotient, type, rounding);
  double remainder = std::fma(-quotient, right, left);
  return roundDouble(toOdd(quotient, right > 0 ? remainder : -remainder), type, rounding);
}

uint64_t rootRounded(double value, ScalarType type, Rounding rounding) {
  double root = std::sqrt(value);
  if (type == ScalarType::F64 || !std::isfinite(root))
    return roundDouble(root, type, rounding);
  return roundDouble(toOdd(root, std::fma(-root, root, value)), type, rounding);
}

double roundToWhole(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestEven:
    break;
  }
  double below = std::floor(value), rest = value - below;
  bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  return std::copysign(up ? below + 1 : below, value);
}

} // namespace llmc::ptx
