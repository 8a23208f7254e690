// SPDX-License-Identifier: Apache-2.0
//
// The ways to feed one sequence, or several, to a compiled model. All must give the same bits: the logits of `canonical`.
#pragma once

#include "test/e2e/compiled/Runner.h"

#include <string>
#include <vector>

namespace llmc::test {

/// A compiled model and what it says about `tokens`, all at once, alone, on one thread.
struct Canonical {
  std::string path;
  uint32_t vocabulary = 0;
  std::vector<int32_t> tokens;
  Logits logits;
};
/// On so many threads, room for `tokens` rows and outputs in a step.
RunnerOptions withRoomFor(size_t tokens, uint32_t threads);
/// Logits are empty when something failed; `error` then says what.
Canonical canonical(const std::string &path, size_t count, uint64_t seed, std::string &error);

/// Each returns what differs first, in words; empty when nothing does.
std::string inPieces(const Canonical &expected, RunnerOptions options, size_t most, uint32_t graph);
/// Four unequal sequences in steps that mix any number of rows of each, 0 included.
std::string amongFour(const std::string &path, size_t longest, RunnerOptions options, uint64_t seed);
/// Other tokens after each of some lengths, truncated away, then the right ones again.
std::string afterTruncation(const Canonical &expected, RunnerOptions options, uint64_t seed);
/// Most of it at once, then decoding, then verifying: the three graphs hand over to one another.
std::string throughAllGraphs(const Canonical &expected, RunnerOptions options);
/// Whole and in pieces, `repeats` times, each thread sleeping now and then before and after the chunks that it claims.
std::string withDelays(const Canonical &expected, RunnerOptions options, int repeats, uint64_t seed);

} // namespace llmc::test
