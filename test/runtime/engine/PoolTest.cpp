// SPDX-License-Identifier: Apache-2.0
// Host pools of every kind, and cancelling. No step waits for a task that has not begun, and a late
// task does no harm.
#include "test/runtime/engine/Support.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace llmc::test {
namespace {

struct Task {
  void (*run)(void *);
  void *argument;
};

// Keeps every task until it is told to run them.
class LatePool {
public:
  explicit LatePool(uint32_t workers) : workers(workers) {}
  llmc_pool hooks() {
    return {sizeof(llmc_pool), 0, this,
            [](void *user) { return static_cast<LatePool *>(user)->workers; },
            [](void *user, void (*run)(void *), void *argument) {
              static_cast<LatePool *>(user)->tasks.push_back({run, argument});
            }};
  }
  void runAll() {
    for (; !tasks.empty(); tasks.pop_front())
      tasks.front().run(tasks.front().argument);
  }
  const uint32_t workers;
  std::deque<Task> tasks;
};

// Threads that take tasks one after the other, each after a pause.
class ThreadedPool {
public:
  ThreadedPool(uint32_t workers, uint32_t threads) : workers(workers) {
    for (uint32_t i = 0; i < threads; ++i)
      pool.emplace_back([this] { work(); });
  }
  ~ThreadedPool() { finish(); }
  // Runs what is left and ends the threads.
  void finish() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stopping = true;
    }
    wake.notify_all();
    for (std::thread &thread : pool)
      thread.join();
    pool.clear();
  }
  llmc_pool hooks() {
    return {sizeof(llmc_pool), 0, this,
            [](void *user) { return static_cast<ThreadedPool *>(user)->workers; },
            [](void *user, void (*run)(void *), void *argument) {
              ThreadedPool &self = *static_cast<ThreadedPool *>(user);
              std::lock_guard<std::mutex> lock(self.mutex);
              self.tasks.push_back({run, argument});
              self.wake.notify_one();
            }};
  }

private:
  void work() {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [this] { return stopping || !tasks.empty(); });
      if (tasks.empty())
        return;
      const Task task = tasks.front();
      tasks.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      task.run(task.argument);
    }
  }
  const uint32_t workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Task> tasks;
  bool stopping = false;
  std::vector<std::thread> pool;
};

llmc_pool inlinePool() {
  return {sizeof(llmc_pool), 0, nullptr, [](void *) { return 3u; },
          [](void *, void (*run)(void *), void *argument) { run(argument); }};
}

std::vector<uint32_t> runWith(const llmc_pool *pool, std::function<void()> drain = [] {}) {
  Bench bench({1, pool, demo_delay_llmc_query, drain}, {0, 300, 1, 32, 1, 0});
  EXPECT_EQ(bench.prefill(bench.sequence(), someTokens(100)), LLMC_OK) << bench.error.message;
  return bench.logits();
}

TEST(HostPool, EveryKindGivesTheSameBits) {
  const std::vector<uint32_t> expected = runWith(nullptr);
  const llmc_pool inlined = inlinePool();
  EXPECT_EQ(runWith(&inlined), expected);
  struct {
    uint32_t workers, threads; // one worker; four tasks one after the other; four at once
  } const kinds[] = {{1, 1}, {4, 1}, {4, 4}};
  for (const auto &kind : kinds) {
    ThreadedPool pool(kind.workers, kind.threads);
    const llmc_pool hooks = pool.hooks();
    EXPECT_EQ(runWith(&hooks, [&] { pool.finish(); }), expected) << kind.workers << " workers";
  }
  LatePool none(0);
  const llmc_pool noneHooks = none.hooks();
  EXPECT_EQ(runWith(&noneHooks), expected);
  EXPECT_TRUE(none.tasks.empty());
}

TEST(HostPool, TasksRunAfterTheStepDoNoHarm) {
  LatePool pool(2);
  const llmc_pool hooks = pool.hooks();
  Bench bench({1, &hooks, demo_llmc_query, [&] { pool.runAll(); }}, {0, 300, 1, 32, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  ASSERT_EQ(bench.prefill(sequence, someTokens(20)), LLMC_OK);
  EXPECT_EQ(pool.tasks.size(), 2u);
  const std::vector<uint32_t> before = bench.logits();
  pool.runAll();
  EXPECT_EQ(bench.logits(), before);
  EXPECT_EQ(llmc_sequence_length(sequence), 20u);
}

TEST(HostPool, UnrunTasksAreNotHandedOutAgain) {
  LatePool pool(2);
  const llmc_pool hooks = pool.hooks();
  Bench bench({1, &hooks}, {0, 300, 1, 4, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  ASSERT_EQ(bench.prefill(sequence, someTokens(40)), LLMC_OK); // ten steps
  EXPECT_EQ(pool.tasks.size(), 2u);
  pool.runAll();
  ASSERT_EQ(bench.prefill(sequence, someTokens(4)), LLMC_OK);
  EXPECT_EQ(pool.tasks.size(), 2u);
  pool.runAll();
}

TEST(HostPool, TasksRunAfterEverythingIsDestroyedDoNoHarm) {
  LatePool pool(3);
  const llmc_pool hooks = pool.hooks();
  TestAllocator allocator;
  const llmc_allocator allocatorHooks = allocator.hooks();
  const llmc_context_options options = {sizeof options, 0, 0, 0, &allocatorHooks, &hooks, nullptr};
  llmc_context *context = nullptr;
  llmc_model *model = nullptr;
  llmc_session *session = nullptr;
  llmc_sequence *sequence = nullptr;
  ASSERT_EQ(llmc_context_create(&options, &context, nullptr), LLMC_OK);
  ASSERT_EQ(llmc_model_from_artifact(context, demo_llmc_query, nullptr, &model, nullptr), LLMC_OK);
  ASSERT_EQ(llmc_session_create(model, nullptr, &session, nullptr), LLMC_OK);
  llmc_context_destroy(context); // models keep it alive
  ASSERT_EQ(llmc_sequence_create(session, &sequence, nullptr), LLMC_OK);
  const std::vector<int32_t> tokens = someTokens(10);
  ASSERT_EQ(llmc_prefill(session, sequence, tokens.data(), 10, nullptr, nullptr), LLMC_OK);
  llmc_model_destroy(model);
  llmc_session_destroy(session);
  EXPECT_EQ(pool.tasks.size(), 3u);
  EXPECT_EQ(allocator.live, 1); // what the tickets stand on
  pool.runAll();
  EXPECT_EQ(allocator.live, 0);
}

TEST(HostPool, SessionsOfOneModelRunAtTheSameTime) {
  Bench bench({3, nullptr, demo_delay_llmc_query}, {0, 300, 1, 32, 1, 0});
  ASSERT_EQ(bench.prefill(bench.sequence(), someTokens(100)), LLMC_OK);
  const std::vector<uint32_t> expected = bench.logits();
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const llmc_session_options options = {sizeof options, 300, 1, 32, 1, 0};
      llmc_session *session = nullptr;
      llmc_sequence *sequence = nullptr;
      llmc_session_create(bench.model, &options, &session, nullptr);
      llmc_sequence_create(session, &sequence, nullptr);
      for (int repeat = 0; repeat < 5; ++repeat) {
        llmc_step_result result = {};
        result.struct_size = sizeof result;
        const std::vector<int32_t> tokens = someTokens(100);
        if (!llmc_sequence_truncate(sequence, 0, nullptr) &&
            !llmc_prefill(session, sequence, tokens.data(), 100, &result, nullptr))
          equal += !memcmp(result.logits, expected.data(), kVocabulary * sizeof(float));
      }
      llmc_session_destroy(session);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(equal, 20);
}

TEST(Cancel, WishBeforeAStepEndsExactlyThatStep) {
  Bench bench({2}, {0, 300, 1, 32, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  const std::vector<int32_t> tokens = someTokens(10);
  ASSERT_EQ(bench.prefill(sequence, tokens), LLMC_OK);
  llmc_session_cancel(bench.session);
  llmc_session_cancel(bench.session);
  EXPECT_EQ(bench.step({rowsOf(sequence, tokens)}), LLMC_CANCELLED);
  EXPECT_EQ(llmc_sequence_length(sequence), 10u);
  EXPECT_EQ(bench.step({rowsOf(sequence, tokens)}), LLMC_OK);
  EXPECT_EQ(llmc_sequence_length(sequence), 20u);
}

TEST(Cancel, FromAnotherThreadLeavesSequencesAsTheyWere) {
  Bench bench({2, nullptr, demo_delay_llmc_query}, {0, 1000, 1, 64, 1, 0});
  llmc_sequence *sequence = bench.sequence();
  ASSERT_EQ(bench.prefill(sequence, someTokens(70, 5)), LLMC_OK);
  const std::vector<int32_t> tokens = someTokens(400);
  std::atomic<bool> stop{false};
  std::atomic<int> wishes{0};
  std::thread canceller([&] {
    for (uint32_t pause = 1; !stop; pause = pause * 7 % 1009) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause * 4));
      llmc_session_cancel(bench.session);
      ++wishes;
    }
  });
  int cancelled = 0;
  for (int i = 0; i < 60; ++i) {
    const llmc_status status = bench.prefill(sequence, tokens);
    ASSERT_TRUE(status == LLMC_OK || status == LLMC_CANCELLED) << bench.error.message;
    cancelled += status == LLMC_CANCELLED;
    ASSERT_EQ(llmc_sequence_length(sequence), status == LLMC_OK ? 470u : 70u);
    ASSERT_EQ(llmc_sequence_truncate(sequence, 70, nullptr), LLMC_OK);
  }
  stop = true;
  canceller.join();
  EXPECT_GT(cancelled, 0);
  EXPECT_LE(cancelled, wishes);
  const llmc_status last = bench.prefill(sequence, tokens); // takes a wish that came after the loop
  if (last == LLMC_CANCELLED) {
    ASSERT_EQ(bench.prefill(sequence, tokens), LLMC_OK);
  }
  const std::vector<uint32_t> bits = bench.logits();
  ASSERT_EQ(llmc_sequence_truncate(sequence, 70, nullptr), LLMC_OK);
  ASSERT_EQ(bench.prefill(sequence, tokens), LLMC_OK);
  EXPECT_EQ(bench.logits(), bits);
}

TEST(Session, SecondThreadInsideGetsBusy) {
  std::atomic<llmc_session *> session{nullptr};
  std::atomic<int> status{-1};
  struct Probe {
    std::atomic<llmc_session *> &session;
    std::atomic<int> &status;
  } probe = {session, status};
  // The pool is called while the step holds the session.
  const llmc_pool hooks = {sizeof hooks, 0, &probe, [](void *) { return 1u; },
                           [](void *user, void (*run)(void *), void *argument) {
                             Probe &self = *static_cast<Probe *>(user);
                             llmc_sequence *sequence = nullptr;
                             self.status = llmc_sequence_create(self.session, &sequence, nullptr);
                             run(argument);
                           }};
  Bench bench({1, &hooks}, {0, 300, 2, 32, 1, 0});
  session = bench.session;
  ASSERT_EQ(bench.prefill(bench.sequence(), someTokens(10)), LLMC_OK);
  EXPECT_EQ(status, LLMC_BUSY);
}

} // namespace
} // namespace llmc::test
