// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/compiled/Runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace llmc::test {

static uint64_t mix(uint64_t &state) {
  uint64_t word = state += 0x9e3779b97f4a7c15u;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  return (word ^ word >> 27) * 0x94d049bb133111ebu;
}

static uint32_t junkWord(Junk junk, uint64_t &state) {
  switch (junk) {
  case Junk::Zeros:
    return 0;
  case Junk::QuietNaN:
    return 0xffffffffu;
  case Junk::SignallingNaN:
    return 0x7fa00001u;
  case Junk::Infinity:
    return 0x7f800000u;
  case Junk::Noise:
    return uint32_t(mix(state) >> 32);
  }
  return 0;
}

void *JunkAllocator::allocate(void *user, size_t bytes, size_t alignment) {
  JunkAllocator &self = *static_cast<JunkAllocator *>(user);
  void *memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void *)), bytes))
    return nullptr;
  uint64_t state = bytes;
  for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
    uint32_t word = junkWord(self.junk, state);
    std::memcpy(static_cast<char *>(memory) + at, &word, std::min(sizeof word, bytes - at));
  }
  __atomic_fetch_add(&self.live, 1, __ATOMIC_RELAXED);
  return memory;
}

void JunkAllocator::release(void *user, void *memory, size_t, size_t) {
  __atomic_fetch_sub(&static_cast<JunkAllocator *>(user)->live, 1, __ATOMIC_RELAXED);
  free(memory);
}

Runner::Runner(const std::string &path, RunnerOptions options) : allocator(options.junk) {
  start(options, &path, nullptr, nullptr);
}

Runner::Runner(llmc_model_query query, const char *name, RunnerOptions options)
    : allocator(options.junk) {
  start(options, nullptr, query, name);
}

void Runner::start(RunnerOptions options, const std::string *path, llmc_model_query query,
                   const char *name) {
  message.struct_size = sizeof message;
  const llmc_allocator hooks = allocator.hooks();
  const llmc_context_options contextOptions = {
      sizeof contextOptions, options.threads, 0, 0, &hooks, options.pool, nullptr};
  if (!keep(llmc_context_create(&contextOptions, &context, &message)))
    return;
  const llmc_model_options modelOptions = {sizeof modelOptions, 0, name, nullptr};
  if (!keep(path ? llmc_model_open(context, path->c_str(), &modelOptions, &model, &message)
                 : llmc_model_from_artifact(context, query, &modelOptions, &model, &message)))
    return;
  const llmc_session_options sessionOptions = {sizeof sessionOptions, options.maxTokens,
                                               options.maxSequences,  options.maxRows,
                                               options.maxOutputs,    options.pageChunks};
  keep(llmc_session_create(model, &sessionOptions, &held, &message));
}

Runner::~Runner() {
  llmc_session_destroy(held);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
}

uint32_t Runner::vocabulary() const {
  llmc_model_info info = {};
  info.struct_size = sizeof info;
  return model && llmc_model_get_info(model, &info, nullptr) == LLMC_OK ? info.vocabulary : 0;
}

llmc_sequence *Runner::sequence() {
  llmc_sequence *made = nullptr;
  return keep(llmc_sequence_create(held, &made, &message)) ? made : nullptr;
}

bool Runner::truncate(llmc_sequence *sequence, uint32_t length) {
  return keep(llmc_sequence_truncate(sequence, length, &message));
}

Logits Runner::step(const std::vector<Piece> &pieces, uint32_t graph) {
  std::vector<llmc_rows> rows;
  for (const Piece &piece : pieces)
    rows.push_back({sizeof(llmc_rows), uint32_t(piece.tokens.size()), piece.sequence,
                    piece.tokens.data(), LLMC_OUTPUTS_ALL, 0, nullptr});
  const llmc_step_options options = {sizeof options, graph};
  llmc_step_result result = {};
  result.struct_size = sizeof result;
  if (!keep(llmc_session_step(held, rows.data(), uint32_t(rows.size()), &options, &result,
                              &message)))
    return {};
  return Logits(result.logits, result.logits + size_t(result.n_outputs) * result.vocabulary);
}

Logits Runner::feed(llmc_sequence *sequence, const std::vector<int32_t> &tokens, size_t most,
                    uint32_t graph) {
  Logits all;
  for (size_t begin = 0; begin < tokens.size(); begin += most) {
    size_t end = std::min(begin + most, tokens.size());
    Logits part = step({{sequence, {tokens.begin() + begin, tokens.begin() + end}}}, graph);
    if (!ok())
      return {};
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::vector<int32_t> Runner::greedy(llmc_sequence *sequence, const float *last, size_t count) {
  uint32_t width = vocabulary();
  std::vector<int32_t> tokens = {llmc_argmax(last, width)};
  while (tokens.size() < count) {
    Logits logits = step({{sequence, {tokens.back()}}});
    if (!ok())
      break;
    tokens.push_back(llmc_argmax(logits.data(), width));
  }
  return tokens;
}

std::vector<int32_t> someTokens(size_t count, uint32_t vocabulary, uint64_t seed) {
  std::vector<int32_t> tokens;
  while (tokens.size() < count)
    tokens.push_back(int32_t((mix(seed) >> 16) % vocabulary));
  return tokens;
}

std::string differenceOf(const Logits &found, const Logits &expected, uint32_t vocabulary) {
  if (found.size() != expected.size())
    return "found " + std::to_string(found.size()) + " logits, expected " +
           std::to_string(expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    if (std::memcmp(&found[i], &expected[i], sizeof(float)))
      return "row " + std::to_string(i / vocabulary) + ", token " + std::to_string(i % vocabulary) +
             ": found " + std::to_string(found[i]) + ", expected " + std::to_string(expected[i]);
  return {};
}

} // namespace llmc::test
