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

// Of a stretch, what each thread reads: from the first line on, the threads' slices one behind the other.
struct Slices {
  const char *begin;
  uint64_t bytes; // of a slice
};

std::vector<Slices> sliced(const std::vector<Stretch> &stretches, uint32_t threads, int streams) {
  const uint64_t grain = static_cast<uint64_t>(streams) * kLine;
  std::vector<Slices> slices;
  for (const Stretch &stretch : stretches) {
    const uint64_t before = -reinterpret_cast<uintptr_t>(stretch.memory) % kLine;
    if (stretch.memory && stretch.bytes > before)
      slices.push_back({static_cast<const char *>(stretch.memory) + before,
                        (stretch.bytes - before) / threads / grain * grain});
  }
  return slices;
}

double bestRead(Gang &gang, const std::vector<Slices> &slices, uint64_t features, uint32_t threads, int streams) {
  uint64_t once = 0; // bytes of a thread
  for (const Slices &of : slices)
    once += of.bytes;
  if (!once)
    return 0;
  const uint64_t passes = (kLeastReadBytes / threads + once - 1) / once;
  const auto work = [&](uint32_t thread) {
    for (uint64_t pass = 0; pass < passes; ++pass)
      for (const Slices &of : slices)
        readStreams(of.begin + thread * of.bytes, of.bytes, streams, features);
  };
  double best = 0, spent = 0;
  while (spent < kReadSeconds) {
    const double seconds = gang.run(work);
    best = std::max(best, static_cast<double>(once * passes * threads) / seconds);
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
  const auto readAll = [&](const std::vector<Stretch> &stretches, int streams) {
    return bestRead(**gang, sliced(stretches, threads, streams), ground.features, threads, streams);
  };
  std::vector<Stretch> all = {ground.weights};
  all.insert(all.end(), ground.keysAndValues.begin(), ground.keysAndValues.end());
  for (const int streams : {1, kMostStreams}) {
    const double read = readAll(all, streams);
    if (read > ceilings.read) {
      ceilings.read = read;
      ceilings.streams = static_cast<uint32_t>(streams);
    }
    ceilings.readWeights = std::max(ceilings.readWeights, all.size() > 1 ? readAll({ground.weights}, streams) : read);
  }
  ceilings.f32 = bestArithmetic(**gang, f32Loop(ground.features), threads);
  ceilings.int8 = bestArithmetic(**gang, int8Loop(ground.features), threads);
  return ceilings;
}

} // namespace llmc::ceilings
