// SPDX-License-Identifier: Apache-2.0
// Of a handful of measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace llmc::tool {

// The smallest value that at least `share` of all values do not exceed; 0 of none.
inline double percentile(std::vector<double> values, double share) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

struct Spread {
  double median = 0, q1 = 0, q3 = 0, least = 0, most = 0;
};

inline Spread spreadOf(const std::vector<double> &values) {
  return {median(values), percentile(values, 0.25), percentile(values, 0.75), percentile(values, 0),
          percentile(values, 1)};
}

} // namespace llmc::tool
