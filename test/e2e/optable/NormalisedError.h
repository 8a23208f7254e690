// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

namespace llmc::test {

/// Squares of differences over squares of the expected; infinite where a NaN is found.
template <typename Number>
double normalisedError(const float *found, const std::vector<Number> &expected) {
  double error = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double difference = double(found[i]) - double(expected[i]);
    error += difference * difference;
    size += double(expected[i]) * double(expected[i]);
  }
  if (std::isnan(error))
    return INFINITY;
  return size > 0 ? error / size : error;
}

} // namespace llmc::test
