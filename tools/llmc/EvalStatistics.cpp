// SPDX-License-Identifier: Apache-2.0
#include "tools/llmc/EvalStatistics.h"
#include <algorithm>
#include <cmath>

namespace llmc::tool {

double logSumExp(const float *logits, uint32_t count) {
  const double most = static_cast<double>(*std::max_element(logits, logits + count));
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i)
    sum += std::exp(static_cast<double>(logits[i]) - most);
  return most + std::log(sum);
}

double divergence(const float *expected, double expectedSum, const float *found, double foundSum,
                  uint32_t count) {
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const double p = static_cast<double>(expected[i]) - expectedSum;
    const double q = static_cast<double>(found[i]) - foundSum;
    const double share = std::exp(p);
    if (!(share <= 0)) // 0 ln 0 is 0; NaN stays one
      sum += share * (p - q);
  }
  return sum;
}

double percentile99(std::vector<double> values) {
  if (values.empty())
    return 0;
  const size_t rank = (values.size() * 99 + 99) / 100; // rounded up
  std::nth_element(values.begin(), values.begin() + static_cast<long>(rank - 1), values.end());
  return values[rank - 1];
}

double meanOf(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

} // namespace llmc::tool
