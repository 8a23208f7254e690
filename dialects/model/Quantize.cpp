// SPDX-License-Identifier: Apache-2.0
// Rounding to halves, bfloat16 and groups.
#include "dialects/model/Quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Into the clones of quantizeRow, so that each is all of one instruction set.
#define LLMC_INLINE __attribute__((always_inline)) inline

namespace llmc::model {
namespace {

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// value / 2^shift to the nearest integer, ties to even.
uint32_t shiftRounded(uint32_t value, unsigned shift) {
  uint32_t kept = value >> shift, rest = value & ((1u << shift) - 1), half = 1u << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

// To the nearest integer, ties to even; for |value| < 2^22. Without SSE 4.1 nearbyint is a call.
float roundedSmall(float value) {
  constexpr float kMagic = 12582912.0f; // 1.5 * 2^23: the sum's last place is 1
  return (value + kMagic) - kMagic;
}

constexpr float kLargestHalf = 65504.0f;

// A scale or minimum as it is stored: never infinite.
uint16_t storedHalf(float value) { return toHalf(std::clamp(value, -kLargestHalf, kLargestHalf)); }

// The squared error of values in codes of this scale and minimum; the codes too where wanted. Sums
// go in lanes, so that the loops become vector instructions.
LLMC_INLINE float encode(const float *values, GroupFormat format, uint16_t scale, uint16_t minimum,
                         uint8_t *codes) {
  constexpr int64_t lanes = 8;
  const float step = fromHalf(scale), base = format.hasMinimum ? fromHalf(minimum) : 0.0f;
  const float inverse = step == 0 ? 0.0f : 1.0f / step;
  const float least = float(-format.bias()), most = least + float((1 << format.bits) - 1);
  float errors[lanes] = {}, rounded[groupSize];
  for (int64_t i = 0; i < groupSize; ++i) {
    const float wanted = (values[i] - base) * inverse;
    const float low = wanted < least ? least : wanted;
    rounded[i] = roundedSmall(low > most ? most : low);
  }
  for (int64_t i = 0; i < groupSize; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const float missed = (values[i + lane] - base) - step * rounded[i + lane];
      errors[lane] += missed * missed;
    }
  if (codes)
    for (int64_t i = 0; i < groupSize; ++i)
      codes[i] = uint8_t(int32_t(rounded[i] - least));
  float error = 0;
  for (float lane : errors)
    error += lane;
  return error;
}

// The value that lies farthest from 0 at the end of the codes that reaches one step farther, or
// less than it: clipping the largest value may serve the others.
LLMC_INLINE uint16_t symmetricScale(const float *values, GroupFormat format) {
  float extreme = 0, magnitude = 0;
  for (int64_t i = 0; i < groupSize; ++i)
    if (std::fabs(values[i]) > magnitude) {
      extreme = values[i];
      magnitude = std::fabs(extreme);
    }
  const float reach = float(format.bias());
  if (magnitude == 0)
    return 0;
  if (format.bits == 8)
    return storedHalf(magnitude / (reach - 1));
  uint16_t best = storedHalf(extreme / -reach);
  float least = encode(values, format, best, 0, nullptr);
  for (int step = 0; step < 6; ++step) {
    const uint16_t scale = storedHalf(magnitude / (reach - 1.0f + 0.3f * float(step)));
    const float error = encode(values, format, scale, 0, nullptr);
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

void addLoss(RoundingLoss *loss, const float *before, const float *after, int64_t count) {
  if (!loss)
    return;
  for (int64_t i = 0; i < count; ++i) {
    double error = double(before[i]) - after[i];
    loss->squaredError += error * error;
    loss->squares += double(before[i]) * before[i];
  }
}

Status checkFinite(const TensorInfo &info, const float *values, int64_t count, int64_t firstRow) {
  float sum = 0; // of a product with 0: a number only where every value is one
  for (int64_t i = 0; i < count; ++i)
    sum += values[i] * 0.0f;
  if (sum == 0)
    return {};
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(values[i]))
      return errorAt(info.place, "row " + std::to_string(firstRow + i / info.columns()),
                     "found " + std::string(std::isnan(values[i]) ? "NaN" : "an infinite value") +
                         ", expected finite values to quantise; keep the tensor's format with "
                         "--quant keep");
  return {};
}

} // namespace

uint16_t toHalf(float value) {
  uint32_t bits = bitsOf(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return uint16_t(sign | 0x7E00);
  if (magnitude >= 0x477FF000) // rounds to 2^16 or more
    return uint16_t(sign | 0x7C00);
  if (magnitude >= 0x38800000) // a normal half
    return uint16_t(sign | (shiftRounded(magnitude, 13) - (112u << 10)));
  if (magnitude < 0x33000000) // below half of the smallest
    return uint16_t(sign);
  uint32_t exponent = magnitude >> 23, mantissa = (magnitude & 0x7FFFFF) | 0x800000;
  return uint16_t(sign | shiftRounded(mantissa, 126 - exponent));
}

float fromHalf(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 1023;
  if (exponent == 31)
    return floatOf(sign | 0x7F800000 | mantissa << 13);
  if (exponent)
    return floatOf(sign | (exponent + 112) << 23 | mantissa << 13);
  float value = float(mantissa) * 0x1p-24f; // subnormal or zero; exact
  return sign ? -value : value;
}

uint16_t toBFloat16(float value) {
  uint32_t bits = bitsOf(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t(shiftRounded(bits, 16));
}

float fromBFloat16(uint16_t bits) { return floatOf(uint32_t(bits) << 16); }

Format formatOf(ElementType stored) {
  std::optional<GroupFormat> groups = groupFormat(stored);
  return {groups ? ElementType::F32 : stored, groups};
}

std::string name(const Format &format) {
  if (format.groups)
    return "int" + std::to_string(format.groups->bits) +
           (format.groups->hasMinimum ? "+minimum" : "");
  static constexpr const char *names[] = {"f32", "f16", "bf16"};
  return names[static_cast<size_t>(format.floats)];
}

// For processors with AVX2 and for those without, chosen when the program starts; the same bits.
__attribute__((target_clones("avx2", "default"))) void
quantizeRow(const float *values, int64_t columns, GroupFormat format, GroupRows out) {
  for (int64_t group = 0; group < columns / groupSize; ++group) {
    const float *from = values + group * groupSize;
    uint16_t scale, minimum = 0;
    if (format.hasMinimum) {
      auto [least, most] = std::minmax_element(from, from + groupSize);
      minimum = storedHalf(*least);
      scale = storedHalf((*most - fromHalf(minimum)) / float((1 << format.bits) - 1));
      out.minimums[group] = minimum;
    } else {
      scale = symmetricScale(from, format);
    }
    out.scales[group] = scale;
    encode(from, format, scale, minimum, out.codes + group * groupSize);
  }
}

void dequantizeRow(GroupRows row, int64_t columns, GroupFormat format, float *out) {
  for (int64_t group = 0; group < columns / groupSize; ++group) {
    const float scale = fromHalf(row.scales[group]);
    const float base = format.hasMinimum ? fromHalf(row.minimums[group]) : 0.0f;
    for (int64_t i = group * groupSize; i < (group + 1) * groupSize; ++i) {
      const float product = scale * float(int(row.codes[i]) - format.bias()); // exact
      out[i] = format.hasMinimum ? product + base : product;
    }
  }
}

double RoundingLoss::relative() const {
  return squares > 0 ? std::sqrt(squaredError / squares) : 0.0;
}

Status readGroupsAs(const WeightSource &source, std::string_view name, GroupFormat format,
                    int64_t firstRow, int64_t numRows, GroupRows out, RoundingLoss *loss) {
  const TensorInfo *info = source.find(name);
  if (info && groupFormat(info->elementType) == std::optional<GroupFormat>(format))
    return source.readGroups(name, firstRow, numRows, out);
  if (!info || info->columns() % groupSize)
    return errorAt(info ? info->place : "", "",
                   "found '" + escaped(name) + "' " +
                       (info ? "of " + std::to_string(info->columns()) + " columns" : "missing") +
                       ", expected a tensor with a multiple of " + std::to_string(groupSize) +
                       " columns");
  const int64_t columns = info->columns(), groups = columns / groupSize;
  std::vector<float> values(size_t(numRows * columns)), rounded(size_t(loss ? columns : 0));
  if (Status status = source.readRows(name, firstRow, numRows, values.data()); !status)
    return status;
  if (Status status = checkFinite(*info, values.data(), numRows * columns, firstRow); !status)
    return status;
  for (int64_t row = 0; row < numRows; ++row) {
    GroupRows one = {out.codes + row * columns, out.scales + row * groups,
                     out.minimums ? out.minimums + row * groups : nullptr};
    quantizeRow(values.data() + row * columns, columns, format, one);
    if (!loss)
      continue;
    dequantizeRow(one, columns, format, rounded.data());
    addLoss(loss, values.data() + row * columns, rounded.data(), columns);
  }
  return {};
}

Status readRowsAs(const WeightSource &source, std::string_view name, const Format &format,
                  int64_t firstRow, int64_t numRows, float *out, RoundingLoss *loss) {
  const TensorInfo *info = source.find(name);
  if (!info || formatOf(info->elementType) == format ||
      (!format.groups && format.floats == ElementType::F32))
    return source.readRows(name, firstRow, numRows, out);
  const int64_t columns = info->columns(), count = numRows * columns;
  if (!format.groups) {
    if (Status status = source.readRows(name, firstRow, numRows, out); !status)
      return status;
    const bool half = format.floats == ElementType::F16;
    for (int64_t i = 0; i < count; ++i) {
      float value =
          half ? fromHalf(storedHalf(out[i])) : fromBFloat16(toBFloat16(out[i]));
      addLoss(loss, out + i, &value, 1);
      out[i] = value;
    }
    return {};
  }
  const int64_t groups = count / groupSize;
  std::vector<uint8_t> codes(static_cast<size_t>(count));
  std::vector<uint16_t> halves(static_cast<size_t>(2 * groups));
  GroupRows rows = {codes.data(), halves.data(),
                    format.groups->hasMinimum ? halves.data() + groups : nullptr};
  if (Status status = readGroupsAs(source, name, *format.groups, firstRow, numRows, rows, loss);
      !status)
    return status;
  dequantizeRow(rows, count, *format.groups, out);
  return {};
}

} // namespace llmc::model
