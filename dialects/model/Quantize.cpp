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

// In lanes, so that the loop becomes vector instructions; the same sums with any of them.
__attribute__((target_clones("avx2", "default"))) void
addLoss(RoundingLoss *loss, const float *before, const float *after, int64_t count) {
  constexpr int64_t lanes = 8;
  double errors[lanes] = {}, squares[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const double value = before[i + lane], error = value - after[i + lane];
      errors[lane] += error * error;
      squares[lane] += value * value;
    }
  for (; i < count; ++i) {
    const double value = before[i], error = value - after[i];
    errors[0] += error * error;
    squares[0] += value * value;
  }
  for (int64_t lane = 0; lane < lanes; ++lane) {
    loss->squaredError += errors[lane];
    loss->squares += squares[lane];
  }
}

// Values as a float format holds them; halves are never infinite.
void roundRow(float *values, int64_t columns, ElementType format, RoundingLoss *loss) {
  constexpr int64_t piece = 256;
  for (int64_t done = 0; done < columns; done += piece) {
    const int64_t count = std::min(piece, columns - done);
    float before[piece], *after = values + done;
    uint16_t bits[piece];
    std::copy_n(after, count, before);
    if (format == ElementType::F16) {
      for (int64_t i = 0; i < count; ++i)
        after[i] = std::clamp(after[i], -kLargestHalf, kLargestHalf);
      toHalves(after, size_t(count), bits);
      fromHalves(bits, size_t(count), after);
    } else {
      toBFloat16s(after, size_t(count), bits);
      fromBFloat16s(bits, size_t(count), after);
    }
    if (loss)
      addLoss(loss, before, after, count);
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

__attribute__((target_clones("avx2", "default"))) void
dequantizeRow(GroupRows row, int64_t columns, GroupFormat format, float *out) {
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
    for (int64_t done = 0; done < count; done += columns)
      roundRow(out + done, columns, format.floats, loss);
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
