// SPDX-License-Identifier: Apache-2.0
// Moving off a core leaves a thread where it may run unchanged.
#include "runtime/engine/Core.h"
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace llmc::test {
namespace {

cpu_set_t allowedCores() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// In a thread of its own, whose affinity goes with it.
template <typename Body> void inThread(Body body) { std::thread(body).join(); }

TEST(Core, MovingOffKeepsWhereAThreadMayRun) {
  inThread([] {
    const cpu_set_t before = allowedCores();
    const int core = currentCore();
    ASSERT_TRUE(CPU_ISSET(core, &before));
    moveOffCore(core);
    const cpu_set_t after = allowedCores();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  });
}

TEST(Core, AThreadThatMayRunOnOneCoreStays) {
  inThread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(currentCore(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    moveOffCore(currentCore());
    const cpu_set_t after = allowedCores();
    EXPECT_TRUE(CPU_EQUAL(&one, &after));
  });
}

TEST(Core, CoresThatAreNoneAreIgnored) {
  inThread([] {
    const cpu_set_t before = allowedCores();
    moveOffCore(-1);
    moveOffCore(1 << 20);
    const cpu_set_t after = allowedCores();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  });
}

} // namespace
} // namespace llmc::test
