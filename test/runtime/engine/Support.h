// SPDX-License-Identifier: Apache-2.0
// What engine tests share: an allocator that counts, fills with junk and fails on demand, and
// owners of the C objects.
#pragma once

#include "llmc/llmc.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

extern "C" const struct llmc_artifact *demo_llmc_query(uint32_t);
extern "C" const struct llmc_artifact *demo_delay_llmc_query(uint32_t);

namespace llmc::test {

constexpr uint32_t kVocabulary = 40;
constexpr uint32_t kLongest = 1000;
constexpr uint32_t kMostSequences = 8;

// Fills what it gives with a NaN pattern, so that memory read before it was written shows in the
// logits.
class TestAllocator {
public:
  llmc_allocator hooks() { return {sizeof(llmc_allocator), 0, this, allocate, release}; }

  std::atomic<int> live{0};
  std::atomic<int> calls{0};
  std::atomic<size_t> liveBytes{0};
  int failAt = -1; // number of the call that gets nothing

private:
  static void *allocate(void *user, size_t bytes, size_t alignment) {
    TestAllocator &self = *static_cast<TestAllocator *>(user);
    void *memory = nullptr;
    if (self.calls++ == self.failAt || posix_memalign(&memory, alignment, bytes))
      return nullptr;
    memset(memory, 0xff, bytes);
    ++self.live;
    self.liveBytes += bytes;
    return memory;
  }
  static void release(void *user, void *memory, size_t bytes, size_t) {
    TestAllocator &self = *static_cast<TestAllocator *>(user);
    memset(memory, 0xfe, bytes);
    --self.live;
    self.liveBytes -= bytes;
    free(memory);
  }
};

inline llmc_error newError() {
  llmc_error error = {};
  error.struct_size = sizeof error;
  return error;
}

struct ContextSetup {
  uint32_t threads = 1;
  const llmc_pool *pool = nullptr;
  llmc_model_query query = demo_llmc_query;
  std::function<void()> drain = [] {
  }; // lets a host pool run what it still holds, after all is destroyed
};

// A context, the linked demo model and a session, made with an allocator that must be empty again
// at the end.
class Bench {
public:
  explicit Bench(ContextSetup setup = {}, llmc_session_options options = {}) : drain(setup.drain) {
    const llmc_allocator hooks = allocator.hooks();
    const llmc_context_options contextOptions = {
        sizeof contextOptions, setup.threads, 0, 0, &hooks, setup.pool, nullptr};
    options.struct_size = sizeof options;
    EXPECT_EQ(llmc_context_create(&contextOptions, &context, &error), LLMC_OK) << error.message;
    EXPECT_EQ(llmc_model_from_artifact(context, setup.query, nullptr, &model, &error), LLMC_OK)
        << error.message;
    EXPECT_EQ(llmc_session_create(model, &options, &session, &error), LLMC_OK) << error.message;
  }
  ~Bench() {
    llmc_session_destroy(session);
    llmc_model_destroy(model);
    llmc_context_destroy(context);
    drain();
    EXPECT_EQ(allocator.live, 0);
  }

  llmc_sequence *sequence() {
    llmc_sequence *made = nullptr;
    EXPECT_EQ(llmc_sequence_create(session, &made, &error), LLMC_OK) << error.message;
    return made;
  }
  llmc_status step(const std::vector<llmc_rows> &rows, uint32_t graph = LLMC_STEP_AUTO) {
    const llmc_step_options options = {sizeof options, graph};
    result = {};
    result.struct_size = sizeof result;
    return llmc_session_step(session, rows.data(), static_cast<uint32_t>(rows.size()), &options,
                             &result, &error);
  }
  llmc_status prefill(llmc_sequence *target, const std::vector<int32_t> &tokens) {
    result = {};
    result.struct_size = sizeof result;
    return llmc_prefill(session, target, tokens.data(), static_cast<uint32_t>(tokens.size()),
                        &result, &error);
  }
  // The bits of one row of logits.
  std::vector<uint32_t> logits(uint32_t row = 0) const {
    std::vector<uint32_t> bits(kVocabulary);
    memcpy(bits.data(), result.logits + static_cast<size_t>(row) * kVocabulary,
           kVocabulary * sizeof(float));
    return bits;
  }

  TestAllocator allocator;
  std::function<void()> drain;
  llmc_error error = newError();
  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_session *session = nullptr;
  llmc_step_result result = {};
};

inline llmc_rows rowsOf(llmc_sequence *sequence, const std::vector<int32_t> &tokens,
                        uint32_t outputs = LLMC_OUTPUTS_LAST) {
  return {sizeof(llmc_rows),
          static_cast<uint32_t>(tokens.size()),
          sequence,
          tokens.data(),
          outputs,
          0,
          nullptr};
}

// Seeded tokens of the vocabulary.
inline std::vector<int32_t> someTokens(uint32_t count, uint32_t seed = 1) {
  std::vector<int32_t> tokens;
  for (uint32_t state = seed * 2654435761u + 12345; tokens.size() < count;) {
    state = state * 1664525u + 1013904223u;
    tokens.push_back(static_cast<int32_t>((state >> 16) % kVocabulary));
  }
  return tokens;
}

inline std::vector<int32_t> slice(const std::vector<int32_t> &tokens, size_t begin, size_t end) {
  return {tokens.begin() + static_cast<long>(begin), tokens.begin() + static_cast<long>(end)};
}

} // namespace llmc::test
