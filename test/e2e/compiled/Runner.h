// SPDX-License-Identifier: Apache-2.0
//
// One context, one compiled model and one session, with what tests turn: threads, a host's pool, junk in all memory, page size.
#pragma once

#include "llmc/llmc.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

/// What memory holds before a session writes it.
enum class Junk { Zeros, QuietNaN, SignallingNaN, Infinity, Noise };

/// An allocator that fills what it gives with junk, and counts what is still out.
class JunkAllocator {
public:
  explicit JunkAllocator(Junk junk) : junk(junk) {}
  llmc_allocator hooks() { return {sizeof(llmc_allocator), 0, this, allocate, release}; }
  int64_t liveBlocks() const { return live; }

private:
  static void *allocate(void *user, size_t bytes, size_t alignment);
  static void release(void *user, void *memory, size_t bytes, size_t alignment);
  Junk junk;
  int64_t live = 0;
};

struct RunnerOptions {
  uint32_t threads = 1;
  const llmc_pool *pool = nullptr;
  Junk junk = Junk::QuietNaN;
  uint32_t maxTokens = 0, maxSequences = 1, maxRows = 256, maxOutputs = 256, pageChunks = 0;
};

/// Tokens of one sequence in a step, logits wanted of each.
struct Piece {
  llmc_sequence *sequence;
  std::vector<int32_t> tokens;
};

using Logits = std::vector<float>; ///< rows of the vocabulary, one after the other

class Runner {
public:
  /// Opens `path`, or links `query`. Look at error() before anything else.
  Runner(const std::string &path, RunnerOptions options = {});
  Runner(llmc_model_query query, const char *name, RunnerOptions options = {});
  ~Runner();
  Runner(const Runner &) = delete;

  bool ok() const { return status == LLMC_OK; }
  std::string error() const { return message.message; }
  uint32_t vocabulary() const;
  llmc_model *opened() const { return model; }
  llmc_session *session() const { return held; }

  /// Null, with error() set, when there is no room.
  llmc_sequence *sequence();
  bool truncate(llmc_sequence *sequence, uint32_t length);
  /// One step; logits of all rows, in order. Empty after a failure.
  Logits step(const std::vector<Piece> &pieces, uint32_t graph = LLMC_STEP_AUTO);
  /// All of `tokens` in pieces of at most `most`; logits of all rows.
  Logits feed(llmc_sequence *sequence, const std::vector<int32_t> &tokens, size_t most,
              uint32_t graph = LLMC_STEP_AUTO);
  /// `count` greedy tokens after the row of logits `last`.
  std::vector<int32_t> greedy(llmc_sequence *sequence, const float *last, size_t count);

private:
  void start(RunnerOptions options, const std::string *path, llmc_model_query query,
             const char *name);
  bool keep(llmc_status result) { return (status = result) == LLMC_OK; }

  JunkAllocator allocator;
  llmc_status status = LLMC_OK;
  llmc_error message = {};
  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_session *held = nullptr;
};

/// Seeded ids below `vocabulary`.
std::vector<int32_t> someTokens(size_t count, uint32_t vocabulary, uint64_t seed);
/// Empty when all bits are equal; else the first difference in words.
std::string differenceOf(const Logits &found, const Logits &expected, uint32_t vocabulary);

} // namespace llmc::test
