// SPDX-License-Identifier: Apache-2.0
//
// The sums and formulas of Math.h.
#include "dialects/llm/reference/Math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmc::reference {

static double dot(const float *a, const float *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += double(a[i]) * double(b[i]);
  return sum;
}

Tensor gatherRows(const Tensor &x, const std::vector<int32_t> &rows) {
  Tensor y(int64_t(rows.size()), x.width);
  for (int64_t r = 0; r < y.lines; ++r)
    std::copy_n(x.line(rows[size_t(r)]), x.width, y.line(r));
  return y;
}

Tensor rmsNorm(const Tensor &x, const Tensor &weight, float eps, int64_t groups) {
  Tensor y(x.lines, x.width);
  int64_t width = x.width / groups;
  for (int64_t r = 0; r < x.lines; ++r)
    for (int64_t g = 0; g < groups; ++g) {
      const float *in = x.line(r) + g * width;
      double scale = 1.0 / std::sqrt(dot(in, in, width) / double(width) + double(eps));
      for (int64_t i = 0; i < width; ++i)
        y.line(r)[g * width + i] =
            float(double(weight.values[size_t(i)]) * (double(in[i]) * scale));
    }
  return y;
}

void quantizeGroup(const float *x, int64_t count, float *y) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(x[i]));
  const float scale = std::max(largest / 127.0f, std::numeric_limits<float>::min());
  const float inverse = 1.0f / scale;
  for (int64_t i = 0; i < count; ++i)
    y[i] = scale * std::nearbyint(x[i] * inverse);
}

Tensor quantize(const Tensor &x) {
  constexpr int64_t group = 32;
  Tensor y(x.lines, x.width);
  for (size_t first = 0; first < x.values.size(); first += group)
    quantizeGroup(x.values.data() + first, group, y.values.data() + first);
  return y;
}

Tensor linear(const Tensor &x, const Tensor &weight, const Tensor *bias) {
  Tensor y(x.lines, weight.lines);
  for (int64_t n = 0; n < weight.lines; ++n)
    for (int64_t r = 0; r < x.lines; ++r) {
      double sum = dot(x.line(r), weight.line(n), x.width);
      y.line(r)[n] = float(bias ? sum + double(bias->values[size_t(n)]) : sum);
    }
  return y;
}

Tensor columns(const Tensor &x, int64_t first, int64_t width) {
  Tensor y(x.lines, width);
  for (int64_t r = 0; r < x.lines; ++r)
    std::copy_n(x.line(r) + first, width, y.line(r));
  return y;
}

Tensor add(const Tensor &a, const Tensor &b) {
  Tensor y(a.lines, a.width);
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = a.values[i] + b.values[i];
  return y;
}

double activate(Activation activation, double x) {
  constexpr double sqrtTwoOverPi = 0.79788456080286535588, sqrtHalf = 0.70710678118654752440;
  switch (activation) {
  case Activation::SiLU:
    return x / (1.0 + std::exp(-x));
  case Activation::GELUTanh:
    return 0.5 * x * (1.0 + std::tanh(sqrtTwoOverPi * (x + 0.044715 * x * x * x)));
  case Activation::GELUErf:
    return 0.5 * x * (1.0 + std::erf(x * sqrtHalf));
  case Activation::ReLU:
    return x > 0 ? x : 0;
  }
  return x;
}

Tensor activate(Activation activation, const Tensor &gate, const Tensor &up) {
  Tensor y(gate.lines, gate.width);
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = float(activate(activation, double(gate.values[i])) * double(up.values[i]));
  return y;
}

void ropeTableRow(const float *frequencies, int64_t count, float magnitude, int64_t position,
                  float *row) {
  for (int64_t i = 0; i < count; ++i) {
    float angle = float(position) * frequencies[i];
    row[i] = float(std::cos(double(angle))) * magnitude;
    row[count + i] = float(std::sin(double(angle))) * magnitude;
  }
}

Tensor rope(const Tensor &x, const Tensor &table, int64_t heads) {
  Tensor y(x.lines, x.width);
  int64_t width = x.width / heads, half = width / 2;
  for (int64_t r = 0; r < x.lines; ++r)
    for (int64_t h = 0; h < heads; ++h) {
      const float *in = x.line(r) + h * width;
      float *out = y.line(r) + h * width;
      for (int64_t i = 0; i < half; ++i) {
        double cosine = table.line(r)[i], sine = table.line(r)[half + i];
        out[i] = float(double(in[i]) * cosine - double(in[i + half]) * sine);
        out[i + half] = float(double(in[i + half]) * cosine + double(in[i]) * sine);
      }
    }
  return y;
}

HeadAttention attendHead(const float *query, const VisibleKeys &seen, int64_t kvHead, float scale, size_t from, size_t to) {
  HeadAttention head;
  head.values.assign(size_t(seen.valueWidth), 0);
  if (from >= to)
    return head;
  std::vector<double> weights;
  for (size_t j = from; j < to; ++j)
    weights.push_back(double(scale) * dot(query, seen.keys[j] + kvHead * seen.keyWidth, seen.keyWidth));
  double largest = *std::max_element(weights.begin(), weights.end()), sum = 0;
  std::vector<double> values(head.values.size(), 0);
  for (size_t j = from; j < to; ++j) {
    double weight = std::exp(weights[j - from] - largest);
    sum += weight;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += weight * double(seen.values[j][kvHead * seen.valueWidth + int64_t(i)]);
  }
  head.maximum = float(largest);
  head.sum = float(sum);
  std::transform(values.begin(), values.end(), head.values.begin(), [](double value) { return float(value); });
  return head;
}

void mergeParts(const std::vector<HeadAttention> &parts, float *result) {
  double maximum = parts.front().maximum, sum = 0; // the first has keys
  for (const HeadAttention &part : parts)
    if (part.sum > 0)
      maximum = std::max(maximum, double(part.maximum));
  std::vector<double> values(parts.front().values.size(), 0);
  for (const HeadAttention &part : parts) {
    if (!(part.sum > 0))
      continue;
    const double scale = std::exp(part.maximum - maximum);
    sum += scale * double(part.sum);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] += scale * double(part.values[i]);
  }
  std::transform(values.begin(), values.end(), result, [&](double value) { return float(value / sum); });
}

void attention(const float *query, const VisibleKeys &seen, int64_t heads, float scale,
               float *result) {
  int64_t sharing = heads / seen.heads; // query heads that read one key/value head
  for (int64_t h = 0; h < heads; ++h)
    mergeParts({attendHead(query + h * seen.keyWidth, seen, h / sharing, scale, 0, seen.keys.size())},
               result + h * seen.valueWidth);
}

int32_t argMax(const float *values, int64_t count) {
  return int32_t(std::max_element(values, values + count) - values);
}

Tensor speculativeVerify(const Tensor &logits, const std::vector<int32_t> &outputTokens,
                         const std::vector<int32_t> &sequenceRow) {
  Tensor y;
  y.lines = int64_t(sequenceRow.size()) - 1;
  y.width = 2;
  for (int64_t s = 0; s < y.lines; ++s) {
    int32_t first = sequenceRow[size_t(s)], end = sequenceRow[size_t(s) + 1], accepted = 0,
            next = -1;
    for (int32_t output = first; output < end; ++output) {
      next = argMax(logits.line(output), logits.width);
      if (output + 1 == end || outputTokens[size_t(output) + 1] != next)
        break;
      ++accepted;
    }
    y.integers.push_back(accepted);
    y.integers.push_back(next);
  }
  return y;
}

} // namespace llmc::reference
