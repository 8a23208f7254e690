// SPDX-License-Identifier: Apache-2.0
//
// Two forms of one computation, timed in turns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <time.h>
#include <unistd.h>
#include <vector>

class TileKernels;

/// On cache lines, as an artefact's arena and weights are: a 512-bit access elsewhere is two.
template <typename T> struct OnLines {
  using value_type = T;
  OnLines() = default;
  template <typename U> OnLines(const OnLines<U> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64));
  }
  void deallocate(T *memory, size_t) { free(memory); }
  bool operator==(const OnLines &) const { return true; }
  bool operator!=(const OnLines &) const { return false; }
};
using Floats = std::vector<float, OnLines<float>>;
using Words = std::vector<int32_t, OnLines<int32_t>>;

/// Rows of the table for packed integer weights; false where a kernel is missing.
bool measurePacked(const TileKernels &kernels);

inline Floats randomFloats(size_t count) {
  std::mt19937 generator(7);
  Floats numbers(count);
  for (float &number : numbers)
    number = float(int32_t(generator())) / 2147483648.0f;
  return numbers;
}

/// As many copies of some `bytes` that, used in turn, none is still in a cache when it comes again.
inline size_t coldCopies(size_t bytes) {
  long cache = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), long(128) << 20);
  return 2 * size_t(cache) / bytes + 1;
}

template <typename List> List repeated(const List &once, size_t copies) {
  List all;
  all.reserve(once.size() * copies);
  for (size_t copy = 0; copy < copies; ++copy)
    all.insert(all.end(), once.begin(), once.end());
  return all;
}

/// Of this thread alone: waiting for a core on a busy machine does not count.
inline double seconds(const std::function<void()> &work) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1.0e-9 * double(time.tv_nsec);
  };
  double start = now();
  work();
  return now() - start;
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

struct Row {
  const char *name;
  std::function<void()> tile, hand;
  double bytes; // or operations
  const Floats *tileResult, *handResult;
  std::function<void()> both =
      nullptr; // on the same data, where the timed calls took turns on several
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
  if (row.both)
    row.both();
  double worst = 0;
  for (size_t i = 0; i < row.tileResult->size(); ++i) {
    double difference = std::fabs((*row.tileResult)[i] - (*row.handResult)[i]);
    worst = difference <= worst ? worst : difference; // a NaN stays
  }
  double time = median(times);
  printf("| %-32s | %8.2f | %6.1f | %5.0f %% | %.1e |\n", row.name, time * 1e6,
         row.bytes / time * 1e-9, 100 * median(ratios), worst);
}

/// Something that bounds both forms, and how much of it one call of `work` does.
struct Ceiling {
  const char *name, *unit, *elsewhere; // the share that the reference machine reached
  std::function<void()> work;
  double amount;
};

/// The rates of both forms over the rate of the ceiling, all three in alternation.
inline void reportShare(const Row &row, const Ceiling &ceiling) {
  std::vector<double> tile, hand, rates;
  for (int round = 0; round < 301; ++round) {
    const std::function<void()> *turns[] = {&row.tile, &row.hand, &ceiling.work};
    double times[3];
    for (int turn = 0; turn < 3; ++turn) // each is first, second and last in turn
      times[(round + turn) % 3] = seconds(*turns[(round + turn) % 3]);
    double rate = ceiling.amount / times[2];
    tile.push_back(row.bytes / times[0] / rate);
    hand.push_back(row.bytes / times[1] / rate);
    rates.push_back(rate);
  }
  printf("| %-27s | %-32s | %6.1f %s | %4.0f %% | %4.0f %% | %s |\n", row.name, ceiling.name,
         median(rates) * 1e-9, ceiling.unit, 100 * median(tile), 100 * median(hand),
         ceiling.elsewhere);
}
