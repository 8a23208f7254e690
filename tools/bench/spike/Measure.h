// SPDX-License-Identifier: Apache-2.0
//
// Two forms of one computation, timed in turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

class TileKernels;

/// Rows of the table for packed integer weights; false where a kernel is missing.
bool measurePacked(const TileKernels &kernels);

inline std::vector<float> randomFloats(size_t count) {
  std::mt19937 generator(7);
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = float(int32_t(generator())) / 2147483648.0f;
  return numbers;
}

inline double seconds(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Row {
  const char *name;
  std::function<void()> tile, hand;
  double bytes;
  const std::vector<float> *tileResult, *handResult;
};

/// Hand-written time over tile time (above 1: the tile form is faster), in alternation.
inline void report(const Row &row) {
  std::vector<double> ratios, times;
  for (int round = 0; round < 301; ++round) {
    double first, second;
    if (round % 2) {
      first = seconds(row.tile);
      second = seconds(row.hand);
    } else {
      second = seconds(row.hand);
      first = seconds(row.tile);
    }
    ratios.push_back(second / first);
    times.push_back(first);
  }
  double worst = 0;
  for (size_t i = 0; i < row.tileResult->size(); ++i) {
    double difference = std::fabs((*row.tileResult)[i] - (*row.handResult)[i]);
    worst = difference <= worst ? worst : difference; // a NaN stays
  }
  double time = median(times);
  printf("| %-32s | %8.2f | %6.1f | %5.0f %% | %.1e |\n", row.name, time * 1e6,
         row.bytes / time * 1e-9, 100 * median(ratios), worst);
}
