// SPDX-License-Identifier: Apache-2.0
// Memory: sizes known before anything is made, an allocator that fails at every call in turn, and
// nothing left behind.
#include "test/runtime/engine/Support.h"
#include <fstream>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

namespace llmc::test {
namespace {

TEST(Memory, SessionBytesAreExact) {
  for (const llmc_session_options &shape :
       {llmc_session_options{0, 0, 0, 0, 0, 0}, llmc_session_options{0, 777, 5, 33, 9, 3},
        llmc_session_options{0, 1, 1, 1, 1, 1}}) {
    Bench bench({3});
    llmc_session_options options = shape;
    options.struct_size = sizeof options;
    uint64_t bytes = 0;
    ASSERT_EQ(llmc_session_bytes(bench.model, &options, &bytes, &bench.error), LLMC_OK);
    const size_t before = bench.allocator.liveBytes;
    llmc_session *session = nullptr;
    ASSERT_EQ(llmc_session_create(bench.model, &options, &session, &bench.error), LLMC_OK);
    EXPECT_EQ(bench.allocator.liveBytes - before, bytes);
    llmc_session_destroy(session);
    EXPECT_EQ(bench.allocator.liveBytes, before);
  }
}

TEST(Memory, ImpossibleSessionsAreRefusedWithTheLimit) {
  Bench bench;
  const auto refuse = [&](llmc_session_options options, const char *words) {
    options.struct_size = sizeof options;
    uint64_t bytes = 0;
    EXPECT_EQ(llmc_session_bytes(bench.model, &options, &bytes, &bench.error),
              LLMC_INVALID_ARGUMENT);
    EXPECT_NE(strstr(bench.error.message, words), nullptr) << bench.error.message;
    llmc_session *session = nullptr;
    EXPECT_EQ(llmc_session_create(bench.model, &options, &session, &bench.error),
              LLMC_INVALID_ARGUMENT);
    EXPECT_EQ(session, nullptr);
  };
  refuse({0, 0, 9, 0, 0, 0}, "found max_sequences 9, expected 1 to 8");
  refuse({0, 1001, 1, 0, 0, 0}, "found max_tokens 1001, expected 1 to 1000");
  refuse({0, 10, 1, 11, 0, 0}, "found max_rows 11, expected 1 to 10");
  refuse({0, 10, 1, 1, UINT32_MAX, 0}, "found max_outputs 4294967295");
  refuse({0, 10, 1, 1, 1, 5000}, "found page_chunks 5000, expected 1 to 1024");
  llmc_session_options small = {4, 0, 0, 0, 0, 0};
  uint64_t bytes = 0;
  EXPECT_EQ(llmc_session_bytes(bench.model, &small, &bytes, &bench.error), LLMC_INVALID_ARGUMENT);
}

TEST(Memory, NoStepAllocates) {
  Bench bench({3}, {0, 500, 2, 50, 4, 0});
  llmc_sequence *sequence = bench.sequence();
  const int before = bench.allocator.calls;
  ASSERT_EQ(bench.prefill(sequence, someTokens(300)), LLMC_OK);
  ASSERT_EQ(llmc_sequence_truncate(sequence, 5, nullptr), LLMC_OK);
  bench.sequence();
  EXPECT_EQ(bench.allocator.calls, before);
}

// Opens, runs and closes; the status of the first thing that failed.
llmc_status liveOnce(TestAllocator &allocator, llmc_error *error) {
  const llmc_allocator hooks = allocator.hooks();
  const llmc_context_options options = {sizeof options, 3, 0, 0, &hooks, nullptr, nullptr};
  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_session *session = nullptr;
  llmc_sequence *sequence = nullptr;
  llmc_status status = llmc_context_create(&options, &context, error);
  if (!status)
    status = llmc_model_open(context, DEMO_FOLDER "/demo.so", nullptr, &model, error);
  if (!status)
    status = llmc_session_create(model, nullptr, &session, error);
  if (!status)
    status = llmc_sequence_create(session, &sequence, error);
  const std::vector<int32_t> tokens = someTokens(10);
  if (!status)
    status = llmc_prefill(session, sequence, tokens.data(), 10, nullptr, error);
  llmc_session_destroy(session);
  llmc_model_destroy(model);
  llmc_context_destroy(context);
  return status;
}

TEST(Memory, AllocatorMayFailAtAnyCall) {
  TestAllocator counter;
  llmc_error error = newError();
  ASSERT_EQ(liveOnce(counter, &error), LLMC_OK) << error.message;
  ASSERT_GT(counter.calls, 3);
  for (int n = 0; n < counter.calls; ++n) {
    TestAllocator allocator;
    allocator.failAt = n;
    error = newError();
    EXPECT_EQ(liveOnce(allocator, &error), LLMC_OUT_OF_MEMORY) << "call " << n;
    EXPECT_NE(strstr(error.message, "no memory for"), nullptr) << error.message;
    EXPECT_EQ(allocator.live, 0) << "call " << n;
  }
}

size_t mappedLines() {
  std::ifstream maps("/proc/self/maps");
  size_t lines = 0;
  for (std::string line; std::getline(maps, line);)
    ++lines;
  return lines;
}

TEST(Memory, ThousandCyclesLeaveNothing) {
  TestAllocator allocator;
  llmc_error error = newError();
  const auto cycle = [&](int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(liveOnce(allocator, &error), LLMC_OK) << error.message;
  };
  cycle(20); // thread stacks and loader caches settle
  const size_t before = mappedLines();
  cycle(1000);
  EXPECT_EQ(allocator.live, 0);
#if !__has_feature(thread_sanitizer) &&                                                            \
    !__has_feature(address_sanitizer) // whose mappings come and go
  EXPECT_LE(mappedLines(), before + 2);
#else
  (void)before;
#endif
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    EXPECT_EQ(line.find("demo.so"), std::string::npos) << line;
}

TEST(Memory, ContextRefusesIncompleteHooks) {
  llmc_error error = newError();
  llmc_context *context = nullptr;
  const auto refuse = [&](const llmc_context_options &options) {
    EXPECT_EQ(llmc_context_create(&options, &context, &error), LLMC_INVALID_ARGUMENT);
    EXPECT_EQ(context, nullptr);
  };
  const llmc_allocator allocator = {sizeof allocator, 0, nullptr, nullptr, nullptr};
  const llmc_pool pool = {sizeof pool, 0, nullptr, nullptr, nullptr};
  const llmc_log log = {sizeof log, 0, nullptr, nullptr};
  refuse({8, 0, 0, 0, nullptr, nullptr, nullptr});
  refuse({sizeof(llmc_context_options), 0, 0, 0, &allocator, nullptr, nullptr});
  refuse({sizeof(llmc_context_options), 0, 0, 0, nullptr, &pool, nullptr});
  refuse({sizeof(llmc_context_options), 0, 0, 0, nullptr, nullptr, &log});
  refuse({sizeof(llmc_context_options), 5000, 0, 0, nullptr, nullptr, nullptr});
}

TEST(Memory, ErrorObjectOfAnySizeIsRespected) {
  struct {
    llmc_error error;
    char guard[8];
  } padded = {};
  memset(padded.guard, 'g', sizeof padded.guard);
  padded.error.struct_size = offsetof(llmc_error, message) + 12;
  memset(padded.error.message, 'x', sizeof padded.error.message);
  EXPECT_EQ(llmc_session_bytes(nullptr, nullptr, nullptr, &padded.error), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(strlen(padded.error.message), 11u);
  EXPECT_EQ(padded.error.message[12], 'x');
  padded.error.struct_size = 0;
  EXPECT_EQ(llmc_session_bytes(nullptr, nullptr, nullptr, &padded.error), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_session_bytes(nullptr, nullptr, nullptr, nullptr), LLMC_INVALID_ARGUMENT);
}

} // namespace
} // namespace llmc::test
