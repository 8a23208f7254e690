// SPDX-License-Identifier: Apache-2.0
// The formulas of the transforms. Compiled without contraction of floating-point expressions.
#include "runtime/engine/Candidates.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace llmc {
namespace {

constexpr uint32_t kFirstRanks = 64;     // sorted at first where the number needed is not known
constexpr uint32_t kFewRanks = 1024;     // up to here a heap beats partitioning
constexpr double kSmallestExponent = -700; // exp of it is 1e-304
// 1/13! down to 1/1!; |r| <= ln(2)/2, so the next term is below 5e-18.
constexpr double kTaylor[] = {1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800,
                              1. / 362880,     1. / 40320,     1. / 5040,     1. / 720,
                              1. / 120,        1. / 24,        1. / 6,        1. / 2,
                              1.};

} // namespace

double exponential(double x) {
  if (!(x >= kSmallestExponent))
    return 0;
  constexpr double perOctave = 1.4426950408889634;
  constexpr double octaveHigh = 0x1.62e42fefa38p-1; // ln(2) with zeros at the end, and the rest
  constexpr double octaveLow = 0x1.ef35793c7673p-45;
  const double octaves = static_cast<double>(static_cast<int>(x * perOctave - 0.5));
  const double r = (x - octaves * octaveHigh) - octaves * octaveLow;
  double sum = 0;
  for (const double coefficient : kTaylor)
    sum = (sum + coefficient) * r;
  const uint64_t bits = static_cast<uint64_t>(1023 + static_cast<int>(octaves)) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return (1 + sum) * power;
}

bool Candidates::allocate(const Allocator &allocator, uint32_t size, bool withRanks,
                          bool withCounts) {
  vocabulary = size;
  if (!idOf.allocate(allocator, size) || !valueOf.allocate(allocator, size) ||
      (withRanks && !ranks.allocate(allocator, size)) ||
      (withCounts && !counts.allocate(allocator, size)))
    return false;
  if (withCounts)
    memset(counts.data(), 0, size * sizeof(uint32_t));
  return true;
}

void Candidates::load(const float *logits, const uint32_t *allowed) {
  n = 0;
  for (uint32_t id = 0; id < vocabulary; ++id) {
    const float logit = logits[id];
    if (!(logit > -INFINITY) || !isAllowed(allowed, id))
      continue;
    idOf[n] = static_cast<int32_t>(id);
    valueOf[n++] = logit;
  }
}

template <typename Change> void Candidates::changeCounted(History history, Change change) {
  for (uint32_t i = 0; i < history.n_tokens; ++i)
    ++counts[static_cast<uint32_t>(history.tokens[i])];
  for (uint32_t i = 0; i < n; ++i)
    if (const uint32_t count = counts[static_cast<uint32_t>(idOf[i])])
      valueOf[i] = change(valueOf[i], count);
  for (uint32_t i = 0; i < history.n_tokens; ++i)
    counts[static_cast<uint32_t>(history.tokens[i])] = 0;
}

void Candidates::penaliseRepetition(History history, float penalty) {
  changeCounted(history, [=](double value, uint32_t) {
    return value > 0 ? value / penalty : value * penalty;
  });
}

void Candidates::penaliseFrequency(History history, float penalty) {
  changeCounted(history, [=](double value, uint32_t count) { return value - penalty * double(count); });
}

void Candidates::penalisePresence(History history, float penalty) {
  changeCounted(history, [=](double value, uint32_t) { return value - penalty; });
}

void Candidates::scale(float temperature) {
  for (uint32_t i = 0; i < n; ++i)
    valueOf[i] /= temperature;
}

template <typename Keep> void Candidates::keepIf(Keep keep) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; ++i)
    if (keep(i)) {
      idOf[kept] = idOf[i];
      valueOf[kept++] = valueOf[i];
    }
  n = kept;
}

double Candidates::largest() const {
  return n ? *std::max_element(valueOf.data(), valueOf.data() + n) : 0;
}

double Candidates::weight(uint32_t index, double largest) const {
  // Equal even where both are infinite.
  return valueOf[index] == largest ? 1 : exponential(valueOf[index] - largest);
}

void Candidates::keepLargest() {
  if (!n)
    return;
  const auto best = static_cast<uint32_t>(std::max_element(valueOf.data(), valueOf.data() + n) -
                                          valueOf.data());
  keepIf([=](uint32_t i) { return i == best; });
}

void Candidates::fillRanks() {
  for (uint32_t i = 0; i < n; ++i)
    ranks[i] = {valueOf[i], i};
}

void Candidates::rank(uint32_t begin, uint32_t end) {
  Ranked *const first = ranks.data() + begin, *const middle = ranks.data() + end;
  if (end - begin <= kFewRanks) {
    std::partial_sort(first, middle, ranks.data() + n);
    return;
  }
  if (end < n)
    std::nth_element(first, middle, ranks.data() + n);
  std::sort(first, middle);
}

void Candidates::keepThrough(const Ranked &last) {
  // A copy: `last` is an element of ranks, and keepIf moves values.
  const Ranked least = last;
  keepIf([&](uint32_t i) { return !(least < Ranked{valueOf[i], i}); });
}

void Candidates::keepTopK(uint32_t count, bool ties) {
  if (count >= n)
    return;
  fillRanks();
  rank(0, count);
  const Ranked last = ranks[count - 1];
  if (ties)
    keepIf([&](uint32_t i) { return valueOf[i] >= last.value; });
  else
    keepThrough(last);
}

void Candidates::keepTopP(double share, uint32_t least) {
  if (!n)
    return;
  const double most = largest();
  double total = 0;
  for (uint32_t i = 0; i < n; ++i)
    total += weight(i, most);
  fillRanks();
  double sum = 0;
  uint32_t ranked = 0, kept = 0;
  while (kept < n && (sum < share * total || kept < least)) {
    if (kept == ranked) {
      ranked = std::min(n, ranked ? ranked * 4 : kFirstRanks);
      rank(kept, ranked);
    }
    sum += weight(ranks[kept++].index, most);
  }
  keepThrough(ranks[std::max(kept, 1u) - 1]);
}

void Candidates::keepMinP(double share, uint32_t least) {
  const double most = largest();
  uint32_t enough = 0;
  for (uint32_t i = 0; i < n; ++i)
    enough += weight(i, most) >= share;
  if (enough < least)
    keepTopK(least, false);
  else
    keepIf([&](uint32_t i) { return weight(i, most) >= share; });
}

void Candidates::normalise() {
  const double most = largest();
  double total = 0;
  for (uint32_t i = 0; i < n; ++i)
    total += valueOf[i] = weight(i, most);
  for (uint32_t i = 0; i < n; ++i)
    valueOf[i] /= total;
}

uint32_t Candidates::draw(double uniform) const {
  double sum = 0;
  uint32_t last = 0; // where rounding leaves the sum below `uniform`
  for (uint32_t i = 0; i < n; ++i) {
    if (valueOf[i] <= 0)
      continue;
    last = i;
    sum += valueOf[i];
    if (sum > uniform)
      break;
  }
  return last;
}

} // namespace llmc
