// SPDX-License-Identifier: Apache-2.0
// A sampler: a checked chain of transforms, and memory for the candidates of one pick.
#pragma once

#include "runtime/engine/Candidates.h"
#include "runtime/engine/Context.h"

namespace llmc {

// A chain, copied and checked.
struct Chain {
  llmc_transform transforms[LLMC_MOST_TRANSFORMS];
  uint32_t n = 0;

  // The largest logit alone counts, so that no list of candidates is needed.
  bool isGreedy() const;
  bool dropsCandidates() const;
  bool looksBack() const;
};
llmc_status readChain(const llmc_transform *transforms, uint32_t n, Chain *chain,
                      llmc_error *error);

} // namespace llmc

struct llmc_sampler {
  llmc_sampler(llmc_context &context, uint32_t vocabulary)
      : context(context), vocabulary(vocabulary) {
    context.retain();
  }

  llmc_context &context;
  const uint32_t vocabulary;
  llmc::Chain chain;
  uint64_t seed = 0;
  llmc_status (*mask)(void *user, const llmc_sample_input *input, uint32_t *allowed) = nullptr;
  void *user = nullptr;
  llmc::Candidates candidates;    // empty where the chain is greedy
  llmc::Buffer<uint32_t> allowed; // with a mask hook
  int32_t greedyId = -1;          // what the result of a greedy pick points to
  double certainty = 1;
};
