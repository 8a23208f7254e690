// SPDX-License-Identifier: Apache-2.0
// A ceiling is the best of several tries: what disturbs a try can only make it slower.
#include "tools/llmc/ceilings/Ceilings.h"
#include "tools/llmc/ceilings/Gang.h"
#include <algorithm>

namespace llmc::ceilings {
namespace {

constexpr double kReadSeconds = 0.02;         // for each number of streams, at least
constexpr uint64_t kLeastReadBytes = 8 << 20; // of a try, so that it takes a while
constexpr uint64_t kArithmeticRounds = 50000;
constexpr int kArithmeticTries = 5;

double bestRead(Gang &gang, const Ground &ground, uint32_t threads, int streams) {
  const uint64_t grain = static_cast<uint64_t>(streams) * kLine;
  const uint64_t before = -reinterpret_cast<uintptr_t>(ground.memory) % kLine; // the first line
  const uint64_t slice =
      ground.bytes < before ? 0 : (ground.bytes - before) / threads / grain * grain;
  if (!ground.memory || !slice)
    return 0;
  const uint64_t passes = (kLeastReadBytes / threads + slice - 1) / slice;
  const char *begin = static_cast<const char *>(ground.memory) + before;
  const auto work = [&](uint32_t thread) {
    for (uint64_t pass = 0; pass < passes; ++pass)
      readStreams(begin + thread * slice, slice, streams, ground.features);
  };
  double best = 0, spent = 0;
  while (spent < kReadSeconds) {
    const double seconds = gang.run(work);
    best = std::max(best, static_cast<double>(slice * passes * threads) / seconds);
    spent += seconds;
  }
  return best;
}

double bestArithmetic(Gang &gang, const ArithmeticLoop &loop, uint32_t threads) {
  double best = 0;
  for (int i = 0; i < kArithmeticTries; ++i) {
    const double seconds = gang.run([&](uint32_t) { loop.run(kArithmeticRounds); });
    best = std::max(best, loop.operationsInRound * double(kArithmeticRounds) * threads / seconds);
  }
  return best;
}

} // namespace

Result<Ceilings> measureCeilings(const Ground &ground, uint32_t threads) {
  Result<std::unique_ptr<Gang>> gang = Gang::start(threads);
  if (!gang)
    return gang.takeError();
  Ceilings ceilings;
  for (const int streams : {1, kMostStreams}) {
    const double read = bestRead(**gang, ground, threads, streams);
    if (read > ceilings.read) {
      ceilings.read = read;
      ceilings.streams = static_cast<uint32_t>(streams);
    }
  }
  ceilings.f32 = bestArithmetic(**gang, f32Loop(ground.features), threads);
  ceilings.int8 = bestArithmetic(**gang, int8Loop(ground.features), threads);
  return ceilings;
}

} // namespace llmc::ceilings
