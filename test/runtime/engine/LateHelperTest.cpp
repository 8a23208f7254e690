// SPDX-License-Identifier: Apache-2.0
// Helpers that stop in the middle of a chunk, as a thread does whose core another process takes.
// Steps finish with the right bits, and go on without such a helper until it is back.
#include "llmc/abi.h"
#include "test/runtime/engine/Support.h"
#include <chrono>
#include <thread>

namespace llmc::test {
namespace {

constexpr uint32_t kKernels = 6;
constexpr uint32_t kAttend = 2;

std::atomic<bool> stalls{false};
std::atomic<uint32_t> helperChunks{0};
std::thread::id caller;
llmc_kernel_fn attend = nullptr;

void attendLate(void *const *table, const uint16_t *slots, const llmc_step *step, uint32_t begin,
                uint32_t end) {
  if (std::this_thread::get_id() != caller) {
    ++helperChunks;
    if (stalls)
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  attend(table, slots, step, begin, end);
}

// The demo model with that kernel. Lies in this program, as every table must lie in its artefact.
llmc_artifact lateArtifact;
llmc_level lateLevel;
llmc_kernel_fn lateKernels[kKernels];

const llmc_artifact *lateQuery(uint32_t version) {
  const llmc_artifact *demo = demo_delay_llmc_query(version);
  if (!demo)
    return nullptr;
  lateArtifact = *demo;
  lateArtifact.weights_delta += reinterpret_cast<const char *>(&demo->weights_delta) -
                                reinterpret_cast<const char *>(&lateArtifact.weights_delta);
  lateLevel = demo->levels[0];
  std::copy(lateLevel.kernels, lateLevel.kernels + kKernels, lateKernels);
  attend = lateKernels[kAttend];
  lateKernels[kAttend] = attendLate;
  lateLevel.kernels = lateKernels;
  lateArtifact.levels = &lateLevel;
  lateArtifact.n_levels = 1;
  return &lateArtifact;
}

class LateHelper : public ::testing::Test {
protected:
  LateHelper() {
    caller = std::this_thread::get_id();
    stalls = false;
    helperChunks = 0;
  }
  // The logits of a prompt, computed anew, by whichever threads are called.
  std::vector<uint32_t> bits(Bench &bench) {
    llmc_sequence *sequence = bench.sequence();
    EXPECT_EQ(bench.prefill(sequence, someTokens(40)), LLMC_OK) << bench.error.message;
    const std::vector<uint32_t> logits = bench.logits();
    EXPECT_EQ(llmc_sequence_release(sequence, nullptr), LLMC_OK);
    return logits;
  }
  // Whether a helper works on one of the next steps.
  bool comesWithin(Bench &bench, int steps) {
    const uint32_t before = helperChunks;
    for (; steps && helperChunks == before; --steps)
      bits(bench);
    return helperChunks != before;
  }
};

TEST_F(LateHelper, StepsGiveTheSameBitsAndGoOnWithoutIt) {
  Bench alone({1, nullptr, lateQuery}, {0, 300, 1, 64, 1, 0});
  const std::vector<uint32_t> expected = bits(alone);
  Bench bench({2, nullptr, lateQuery}, {0, 300, 1, 64, 1, 0});
  stalls = true;
  ASSERT_TRUE(comesWithin(bench, 100000));
  helperChunks = 0;
  for (int i = 0; i < 60; ++i)
    ASSERT_EQ(bits(bench), expected);
  EXPECT_LT(helperChunks, 20u); // it comes back now and then
}

TEST_F(LateHelper, IsCalledBack) {
  Bench bench({2, nullptr, lateQuery}, {0, 300, 1, 64, 1, 0});
  stalls = true;
  ASSERT_TRUE(comesWithin(bench, 100000));
  stalls = false;
  EXPECT_TRUE(comesWithin(bench, 1000000));
}

} // namespace
} // namespace llmc::test
