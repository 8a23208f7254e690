// SPDX-License-Identifier: Apache-2.0
// The tokens that may still be picked, with their logits, in the order of their ids; transforms
// change logits or drop candidates. Logits are doubles, so that no temperature overflows. All memory
// is asked for once.
#pragma once

#include "llmc/sample.h"
#include "runtime/engine/Memory.h"

namespace llmc {

// `allowed` may be NULL: all are.
inline bool isAllowed(const uint32_t *allowed, uint32_t id) {
  return !allowed || (allowed[id / 32] >> id % 32 & 1);
}

// Tokens that a penalty looks at.
struct History {
  const int32_t *tokens;
  uint32_t n_tokens;
};

class Candidates {
public:
  // `ranks` where candidates will be dropped, `counts` where tokens are counted. False: no memory.
  bool allocate(const Allocator &allocator, uint32_t vocabulary, bool ranks, bool counts);

  // Starts over with the ids whose logit is a number and whose bit is set; `allowed` may be NULL.
  void load(const float *logits, const uint32_t *allowed);

  void penaliseRepetition(History history, float penalty);
  void penaliseFrequency(History history, float penalty);
  void penalisePresence(History history, float penalty);
  void scale(float temperature);
  void keepLargest();
  void keepTopK(uint32_t count, bool ties);
  void keepTopP(double share, uint32_t least);
  void keepMinP(double share, uint32_t least);

  // Logits become probabilities.
  void normalise();
  // By the inverse of the cumulative sum in the order of ids; `uniform` in [0, 1). Index of the pick.
  uint32_t draw(double uniform) const;

  uint32_t size() const { return n; }
  const int32_t *ids() const { return idOf.data(); }
  const double *values() const { return valueOf.data(); }

private:
  struct Ranked {
    double value;
    uint32_t index;
    // Larger first, then lower index, so also lower id.
    bool operator<(const Ranked &other) const {
      return value > other.value || (value == other.value && index < other.index);
    }
  };

  template <typename Change> void changeCounted(History history, Change change);
  template <typename Keep> void keepIf(Keep keep);
  double largest() const;
  // exp(value - largest)
  double weight(uint32_t index, double largest) const;
  void fillRanks();
  // Sorts the ranks [begin, end) into place, those before `begin` being there already.
  void rank(uint32_t begin, uint32_t end);
  void keepThrough(const Ranked &last);

  Buffer<int32_t> idOf;
  Buffer<double> valueOf;
  Buffer<Ranked> ranks;
  Buffer<uint32_t> counts; // [vocabulary], zeros between calls
  uint32_t vocabulary = 0;
  uint32_t n = 0;
};

// exp(x) for x <= 0, within 2 units in the last place; 0 below -700. Our own, because that of libc
// differs between processors, and a seed should give the same text on all.
double exponential(double x);

} // namespace llmc
