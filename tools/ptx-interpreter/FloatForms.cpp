// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic. Approximate forms (ex2, lg2, rcp.approx, ...) are computed to full
// precision and rounded once: they agree with a device within the device's own error bound, not bit
// for bit.
#include "tools/ptx-interpreter/Forms.h"

#include <cmath>

namespace llmc::ptx {

uint64_t flushed(const Instruction &instruction, uint64_t cell, ScalarType type) {
  if (!instruction.modifiers.flush || type != ScalarType::F32)
    return cell;
  return cell & 0x7f800000 ? cell : cell & 0x80000000;
}

namespace {

/// One result from the operands' values; packed types call it once a half.
using Core = uint64_t (*)(const Instruction &, const double *values, ScalarType type);

uint64_t saturate(const Instruction &i, uint64_t cell, ScalarType type) {
  if (!i.modifiers.saturate)
    return cell;
  double value = cellToDouble(cell, type);
  return roundDouble(value > 0 ? std::fmin(value, 1) : 0, type, Rounding::NearestEven);
}

uint64_t compute(const Instruction &i, const uint64_t *s, unsigned count, ScalarType type,
                 Core core) {
  double values[3];
  for (unsigned source = 0; source < count; ++source)
    values[source] = cellToDouble(flushed(i, s[source], type), type);
  return saturate(i, flushed(i, core(i, values, type), type), type);
}

template <unsigned count, Core core> uint64_t evaluate(const Instruction &i, const uint64_t *s) {
  if (i.type != ScalarType::F16x2 && i.type != ScalarType::BF16x2)
    return compute(i, s, count, i.type, core);
  ScalarType half = i.type == ScalarType::F16x2 ? ScalarType::F16 : ScalarType::BF16;
  uint64_t low[3], high[3];
  for (unsigned source = 0; source < count; ++source) {
    low[source] = s[source] & 0xffff;
    high[source] = s[source] >> 16 & 0xffff;
  }
  return compute(i, low, count, half, core) | compute(i, high, count, half, core) << 16;
}

bool isPlainSingle(const Instruction &i) {
  const Modifiers &m = i.modifiers;
  return i.type == ScalarType::F32 && m.rounding == Rounding::NearestEven && !m.flush &&
         !m.saturate;
}

uint64_t single(float value) { return std::isnan(value) ? 0x7fffffff : floatCell(value); }

uint64_t addCore(const Instruction &i, const double *v, ScalarType type) {
  return addRounded(v[0], v[1], type, i.modifiers.rounding);
}
uint64_t add(const Instruction &i, const uint64_t *s) {
  return isPlainSingle(i) ? single(asFloat(s[0]) + asFloat(s[1])) : evaluate<2, addCore>(i, s);
}

uint64_t subtractCore(const Instruction &i, const double *v, ScalarType type) {
  return addRounded(v[0], -v[1], type, i.modifiers.rounding);
}
uint64_t subtract(const Instruction &i, const uint64_t *s) {
  return isPlainSingle(i) ? single(asFloat(s[0]) - asFloat(s[1])) : evaluate<2, subtractCore>(i, s);
}

uint64_t multiplyCore(const Instruction &i, const double *v, ScalarType type) {
  return multiplyRounded(v[0], v[1], type, i.modifiers.rounding);
}
uint64_t multiply(const Instruction &i, const uint64_t *s) {
  return isPlainSingle(i) ? single(asFloat(s[0]) * asFloat(s[1])) : evaluate<2, multiplyCore>(i, s);
}

uint64_t fusedCore(const Instruction &i, const double *v, ScalarType type) {
  return fusedRounded(v[0], v[1], v[2], type, i.modifiers.rounding);
}
uint64_t fused(const Instruction &i, const uint64_t *s) {
  return isPlainSingle(i) ? single(std::fma(asFloat(s[0]), asFloat(s[1]), asFloat(s[2])))
                          : evaluate<3, fusedCore>(i, s);
}

uint64_t divideCore(const Instruction &i, const double *v, ScalarType type) {
  return divideRounded(v[0], v[1], type, i.modifiers.rounding);
}
uint64_t reciprocalCore(const Instruction &i, const double *v, ScalarType type) {
  return divideRounded(1, v[0], type, i.modifiers.rounding);
}
uint64_t rootCore(const Instruction &i, const double *v, ScalarType type) {
  return rootRounded(v[0], type, i.modifiers.rounding);
}

uint64_t reciprocalRootCore(const Instruction &, const double *v, ScalarType type) {
  return roundDouble(1 / std::sqrt(v[0]), type, Rounding::NearestEven);
}
uint64_t exponentialCore(const Instruction &, const double *v, ScalarType type) {
  return roundDouble(std::exp2(v[0]), type, Rounding::NearestEven);
}
uint64_t logarithmCore(const Instruction &, const double *v, ScalarType type) {
  return roundDouble(std::log2(v[0]), type, Rounding::NearestEven);
}
uint64_t sineCore(const Instruction &, const double *v, ScalarType type) {
  return roundDouble(std::sin(v[0]), type, Rounding::NearestEven);
}
uint64_t cosineCore(const Instruction &, const double *v, ScalarType type) {
  return roundDouble(std::cos(v[0]), type, Rounding::NearestEven);
}
uint64_t tangentCore(const Instruction &, const double *v, ScalarType type) {
  return roundDouble(std::tanh(v[0]), type, Rounding::NearestEven);
}

/// Smaller (or larger) of two; -0 counts as less than +0; a NaN loses unless the form says NaN.
double chosen(const Instruction &i, double left, double right, bool smaller) {
  if (std::isnan(left) || std::isnan(right)) {
    if (i.modifiers.nan)
      return NAN;
    return std::isnan(left) ? right : left;
  }
  if (left == right)
    return std::signbit(left) == smaller ? left : right;
  return (left < right) == smaller ? left : right;
}

uint64_t minimumCore(const Instruction &i, const double *v, ScalarType type) {
  return roundDouble(chosen(i, v[0], v[1], true), type, Rounding::NearestEven);
}
uint64_t maximumCore(const Instruction &i, const double *v, ScalarType type) {
  return roundDouble(chosen(i, v[0], v[1], false), type, Rounding::NearestEven);
}

uint64_t signMask(ScalarType type) {
  if (type == ScalarType::F16x2 || type == ScalarType::BF16x2)
    return 0x80008000;
  return uint64_t(1) << (sizeInBits(type) - 1);
}

uint64_t absolute(const Instruction &i, const uint64_t *s) {
  return zeroExtend(flushed(i, s[0], i.type) & ~signMask(i.type), i.type);
}
uint64_t negate(const Instruction &i, const uint64_t *s) {
  return zeroExtend(flushed(i, s[0], i.type) ^ signMask(i.type), i.type);
}
/// The second operand with the sign of the first.
uint64_t copySign(const Instruction &i, const uint64_t *s) {
  uint64_t sign = signMask(i.type);
  return zeroExtend((s[1] & ~sign) | (s[0] & sign), i.type);
}

constexpr std::string_view half = "f16 bf16 f16x2 bf16x2";
constexpr std::string_view all = "f32 f64 f16 bf16 f16x2 bf16x2";
constexpr std::string_view directed = "rn rz rm rp ftz sat";

constexpr Form rows[] = {
    {"add", "f32", "", directed, "dss", Action::Evaluate, add},
    {"add", "f64", "", "rn", "dss", Action::Evaluate, evaluate<2, addCore>},
    {"add", half, "", "rn", "dss", Action::Evaluate, evaluate<2, addCore>},
    {"sub", "f32", "", directed, "dss", Action::Evaluate, subtract},
    {"sub", "f64", "", "rn", "dss", Action::Evaluate, evaluate<2, subtractCore>},
    {"sub", half, "", "rn", "dss", Action::Evaluate, evaluate<2, subtractCore>},
    {"mul", "f32", "", directed, "dss", Action::Evaluate, multiply},
    {"mul", "f64", "", "rn", "dss", Action::Evaluate, evaluate<2, multiplyCore>},
    {"mul", half, "", "rn", "dss", Action::Evaluate, evaluate<2, multiplyCore>},
    {"fma", "f32", "", directed, "dsss", Action::Evaluate, fused},
    {"fma", "f64", "", "rn", "dsss", Action::Evaluate, evaluate<3, fusedCore>},
    {"fma", half, "", "rn", "dsss", Action::Evaluate, evaluate<3, fusedCore>},
    {"div", "f32", "", "rn rz rm rp ftz", "dss", Action::Evaluate, evaluate<2, divideCore>},
    {"div", "f64", "", "rn", "dss", Action::Evaluate, evaluate<2, divideCore>},
    {"div.approx", "f32", "", "ftz", "dss", Action::Evaluate, evaluate<2, divideCore>},
    {"div.full", "f32", "", "ftz", "dss", Action::Evaluate, evaluate<2, divideCore>},
    {"rcp", "f32", "", "rn rz rm rp ftz", "ds", Action::Evaluate, evaluate<1, reciprocalCore>},
    {"rcp.rn", "f64", "", "", "ds", Action::Evaluate, evaluate<1, reciprocalCore>},
    {"rcp.approx", "f32", "", "ftz", "ds", Action::Evaluate, evaluate<1, reciprocalCore>},
    {"sqrt", "f32", "", "rn rz rm rp ftz", "ds", Action::Evaluate, evaluate<1, rootCore>},
    {"sqrt.rn", "f64", "", "", "ds", Action::Evaluate, evaluate<1, rootCore>},
    {"sqrt.approx", "f32", "", "ftz", "ds", Action::Evaluate, evaluate<1, rootCore>},
    {"rsqrt.approx", "f32", "", "ftz", "ds", Action::Evaluate, evaluate<1, reciprocalRootCore>},
    {"ex2.approx", "f32 f16 bf16", "", "ftz", "ds", Action::Evaluate, evaluate<1, exponentialCore>},
    {"lg2.approx", "f32", "", "ftz", "ds", Action::Evaluate, evaluate<1, logarithmCore>},
    {"sin.approx", "f32", "", "ftz", "ds", Action::Evaluate, evaluate<1, sineCore>},
    {"cos.approx", "f32", "", "ftz", "ds", Action::Evaluate, evaluate<1, cosineCore>},
    {"tanh.approx", "f32 f16 bf16", "", "", "ds", Action::Evaluate, evaluate<1, tangentCore>},
    {"min", all, "", "ftz NaN", "dss", Action::Evaluate, evaluate<2, minimumCore>},
    {"max", all, "", "ftz NaN", "dss", Action::Evaluate, evaluate<2, maximumCore>},
    {"abs", all, "", "ftz", "ds", Action::Evaluate, absolute},
    {"neg", all, "", "ftz", "ds", Action::Evaluate, negate},
    {"copysign", "f32 f64", "", "", "dss", Action::Evaluate, copySign},
};

} // namespace

FormList floatForms() { return {rows, sizeof rows / sizeof *rows}; }

} // namespace llmc::ptx
