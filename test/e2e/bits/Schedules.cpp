// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/bits/Schedules.h"

#include <algorithm>
#include <random>

namespace llmc::test {
namespace {

std::vector<int32_t> slice(const std::vector<int32_t> &tokens, size_t begin, size_t end) {
  return {tokens.begin() + long(begin), tokens.begin() + long(end)};
}

void append(Logits &logits, const Logits &more) {
  logits.insert(logits.end(), more.begin(), more.end());
}

/// What a run gave against what it should have given; a failed run says why.
std::string judge(const Runner &runner, const Logits &found, const Canonical &expected) {
  if (!runner.ok())
    return runner.error();
  return differenceOf(found, expected.logits, expected.vocabulary);
}

} // namespace

RunnerOptions withRoomFor(size_t tokens, uint32_t threads) {
  RunnerOptions options{threads};
  options.maxRows = options.maxOutputs = std::max(options.maxRows, uint32_t(tokens));
  return options;
}

Canonical canonical(const std::string &path, size_t count, uint64_t seed, std::string &error) {
  Canonical made;
  made.path = path;
  RunnerOptions atOnce = withRoomFor(count, 1);
  atOnce.junk = Junk::Zeros;
  Runner runner(path, atOnce);
  if (runner.ok()) {
    made.vocabulary = runner.vocabulary();
    made.tokens = someTokens(count, made.vocabulary, seed);
    made.logits = runner.feed(runner.sequence(), made.tokens, count, LLMC_STEP_PREFILL);
  }
  error = runner.ok() ? "" : runner.error();
  return made;
}

std::string inPieces(const Canonical &expected, RunnerOptions options, size_t most,
                     uint32_t graph) {
  Runner runner(expected.path, options);
  if (!runner.ok())
    return runner.error();
  return judge(runner, runner.feed(runner.sequence(), expected.tokens, most, graph), expected);
}

std::string amongFour(const std::string &path, size_t longest, RunnerOptions options,
                      uint64_t seed) {
  const size_t lengths[4] = {longest, 1, longest / 2 + 1, longest / 3};
  std::vector<Canonical> alone;
  for (size_t i = 0; i < 4; ++i) {
    std::string error;
    alone.push_back(canonical(path, lengths[i], seed + i, error));
    if (!error.empty())
      return error;
  }
  options.maxSequences = 4;
  Runner runner(path, options);
  if (!runner.ok())
    return runner.error();
  std::mt19937_64 random(seed);
  llmc_sequence *sequences[4];
  for (llmc_sequence *&sequence : sequences)
    sequence = runner.sequence();
  size_t done[4] = {};
  Logits found[4];
  for (;;) {
    std::vector<Piece> pieces;
    std::vector<size_t> owners;
    for (size_t i = 0; i < 4; ++i)
      if (size_t count = std::min<size_t>(random() % 3 ? random() % 4 : random() % 40,
                                          lengths[i] - done[i])) {
        pieces.push_back({sequences[i], slice(alone[i].tokens, done[i], done[i] + count)});
        owners.push_back(i);
        done[i] += count;
      }
    if (pieces.empty()) {
      if (std::equal(done, done + 4, lengths))
        break;
      continue;
    }
    Logits logits = runner.step(pieces);
    if (!runner.ok())
      return runner.error();
    auto at = logits.begin();
    for (size_t p = 0; p < pieces.size(); ++p) {
      auto end = at + long(pieces[p].tokens.size() * alone[0].vocabulary);
      found[owners[p]].insert(found[owners[p]].end(), at, end);
      at = end;
    }
  }
  for (size_t i = 0; i < 4; ++i)
    if (std::string wrong = judge(runner, found[i], alone[i]); !wrong.empty())
      return "sequence " + std::to_string(i) + ": " + wrong;
  return {};
}

std::string afterTruncation(const Canonical &expected, RunnerOptions options, uint64_t seed) {
  Runner runner(expected.path, options);
  if (!runner.ok())
    return runner.error();
  llmc_sequence *sequence = runner.sequence();
  const size_t count = expected.tokens.size();
  const std::vector<int32_t> others = someTokens(count, expected.vocabulary, seed);
  Logits found;
  // Lengths before, at and after the edges of chunks, and nothing kept at all.
  std::vector<size_t> lengths = {0, 1, 63, 64, 65, 100, count - 1, count};
  lengths.erase(std::remove_if(lengths.begin(), lengths.end(),
                               [&](size_t length) { return length > count; }),
                lengths.end());
  std::sort(lengths.begin(), lengths.end());
  for (size_t i = 0; i + 1 < lengths.size(); ++i) {
    runner.feed(sequence, slice(others, lengths[i], count), 64);
    if (!runner.ok() || !runner.truncate(sequence, uint32_t(lengths[i])))
      return runner.error();
    append(found, runner.feed(sequence, slice(expected.tokens, lengths[i], lengths[i + 1]), 64));
  }
  return judge(runner, found, expected);
}

std::string throughAllGraphs(const Canonical &expected, RunnerOptions options) {
  Runner runner(expected.path, options);
  if (!runner.ok())
    return runner.error();
  llmc_sequence *sequence = runner.sequence();
  const size_t count = expected.tokens.size(), decode = count - 30, verify = count - 17;
  Logits found = runner.feed(sequence, slice(expected.tokens, 0, decode), decode);
  append(found, runner.feed(sequence, slice(expected.tokens, decode, verify), 1));
  append(found, runner.feed(sequence, slice(expected.tokens, verify, count), 5));
  return judge(runner, found, expected);
}

} // namespace llmc::test
