// SPDX-License-Identifier: Apache-2.0
// What logits say about a text, and how two rows of logits differ. Sums in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llmc::tool {

// ln of the sum of exp(logits); NaN or infinite where a logit is.
double logSumExp(const float *logits, uint32_t count);

// Kullback-Leibler divergence of `found` from `expected` in nats, both softmax of logits: the sum
// of p ln(p / q) with p of `expected`. 0 where equal.
double divergence(const float *expected, double expectedSum, const float *found, double foundSum,
                  uint32_t count);

// The value that 99 of 100 do not exceed (nearest rank); 0 of none.
double percentile99(std::vector<double> values);
double meanOf(const std::vector<double> &values);

} // namespace llmc::tool
