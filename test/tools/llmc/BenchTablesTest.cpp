// SPDX-License-Identifier: Apache-2.0
// The arithmetic of `llmc bench`: medians, what goes between commands, bounds and what is lost
// against them. And that ceilings come out at all.
#include "llmc/abi.h"
#include "tools/llmc/bench/Relations.h"
#include "tools/llmc/bench/Statistics.h"
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

using tool::arithmeticSeconds;
using tool::boundSeconds;
using tool::CommandCost;
using tool::readSeconds;
using tool::TimedStep;
using tool::Work;

constexpr ceilings::Ceilings kCeilings = {1e9, 1, 0, 10e9, 100e9};

TimedStep step(uint64_t first, uint64_t second, uint64_t third) {
  return {"decode",
          {{"layers.0.q", "linear", 1000, 1000 + first},
           {"layers.1.q", "linear", 5000, 5000 + second},
           {"head", "dot", 9000, 9000 + third}}};
}

TEST(BenchTables, CostsAreMediansAndTheFirstLosesTheMost) {
  const std::vector<TimedStep> steps = {step(1000, 2000, 900000), step(1500, 3000, 5500),
                                        step(1500, 2500, 6000)};
  std::vector<CommandCost> costs;
  // 1000 bytes take 1 us, 100000 operations on bytes 1 us, 50000 on floats 5 us.
  addCosts(costs, steps, {Work{1000, 0, 0}, Work{1000, 0, 50000}, Work{100, 50000, 0}}, {});
  const std::vector<CommandCost> each = costTable(costs, false, kCeilings);
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[0].name, "layers.1.q");
  EXPECT_DOUBLE_EQ(each[0].microseconds, 2.5);
  EXPECT_DOUBLE_EQ(each[0].bound, 1);
  EXPECT_TRUE(each[0].bindsReading);
  EXPECT_DOUBLE_EQ(each[0].share, 0.25);
  EXPECT_EQ(each[1].name, "head");
  EXPECT_DOUBLE_EQ(each[1].bound, 5);
  EXPECT_FALSE(each[1].bindsReading);
  EXPECT_DOUBLE_EQ(each[1].lost(), 1);
  EXPECT_EQ(each[2].name, "layers.0.q");
  const std::vector<CommandCost> kinds = costTable(costs, true, kCeilings);
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].name, "layers.*.q");
  EXPECT_EQ(kinds[0].count, 2u);
  EXPECT_DOUBLE_EQ(kinds[0].microseconds, 4);
  EXPECT_DOUBLE_EQ(kinds[0].bound, 2);
}

TEST(BenchTables, WhatDidNotRunIsNotInTheTable) {
  std::vector<CommandCost> costs;
  TimedStep once = step(1, 1, 1);
  once.commands[2].begin = once.commands[2].end = 0;
  addCosts(costs, {once}, {}, {});
  EXPECT_EQ(costTable(costs, false, kCeilings).size(), 2u);
}

TEST(BenchTables, BetweenCommandsIsWhenNoneRuns) {
  // 1000 to 3000, 5000 to 9500 and 9000 to 9100: idle from 3000 to 5000 alone.
  const tool::Boundaries boundaries = boundariesOf(step(2000, 4500, 100));
  EXPECT_DOUBLE_EQ(boundaries.seconds, 2e-6);
  EXPECT_EQ(boundaries.commands, 3u);
}

TEST(BenchTables, BoundsTakeReadingAndArithmeticAtOnce) {
  EXPECT_DOUBLE_EQ(readSeconds({2e9, 0, 0}, kCeilings), 2);
  EXPECT_DOUBLE_EQ(arithmeticSeconds({0, 10e9, 100e9}, kCeilings), 2);
  EXPECT_DOUBLE_EQ(boundSeconds({3e9, 10e9, 100e9}, kCeilings), 3);
  EXPECT_DOUBLE_EQ(boundSeconds({3e9, 10e9, 100e9}, {}), 0) << "an unknown ceiling binds nothing";
}

tool::Row decodeRow(uint32_t depth, uint32_t batch, double seconds, double kvBytes) {
  tool::Row row;
  row.key = {false, 0, depth, batch, /*generated=*/10, /*threads=*/2};
  row.seconds.median = seconds;
  row.rate.median = 10 * batch / seconds;
  row.work.kvBytes = kvBytes;
  row.work.bytes = 5000e6 + kvBytes;
  row.ceilings = kCeilings;
  return row;
}

TEST(BenchTables, DepthCostsAndBatchesGive) {
  tool::Row other = decodeRow(0, 1, 99, 0);
  other.key.threads = 1;
  const std::vector<tool::Row> rows = {other, decodeRow(0, 1, 1, 1e6),
                                       decodeRow(1024, 1, 3, 1001e6), decodeRow(0, 4, 2, 0)};
  EXPECT_FALSE(relationsOf(rows[1], rows).extraSeconds);
  EXPECT_FALSE(relationsOf(rows[1], rows).ofBatchOne);
  const tool::Relations deep = relationsOf(rows[2], rows);
  EXPECT_DOUBLE_EQ(*deep.extraSeconds, 0.2);
  EXPECT_DOUBLE_EQ(*deep.extraOverRead, 2) << "100 MB a step at 1 GB/s are 0.1 s";
  tool::Row crowded = rows[2];
  crowded.ceilings.readWeights = 2e9;
  EXPECT_DOUBLE_EQ(*relationsOf(crowded, rows).extraOverRead, 2 / (6.001 - 2.5005)) << "without keys and values a cache held weights";
  crowded.ceilings.readWeights = 0.5e9;
  EXPECT_DOUBLE_EQ(*relationsOf(crowded, rows).extraOverRead, 2) << "weights are not read slower alone";
  EXPECT_DOUBLE_EQ(*relationsOf(rows[3], rows).ofBatchOne, 2);
  EXPECT_FALSE(relationsOf(decodeRow(7, 4, 9, 9), rows).ofBatchOne) << "no batch 1 to compare";
}

TEST(BenchTables, Percentiles) {
  EXPECT_EQ(tool::median({}), 0);
  EXPECT_EQ(tool::median({3, 1, 2}), 2);
  std::vector<double> hundred;
  for (int i = 100; i > 0; --i)
    hundred.push_back(i);
  EXPECT_EQ(tool::percentile(hundred, 0.99), 99);
  EXPECT_EQ(tool::percentile(hundred, 0.5), 50);
  EXPECT_EQ(tool::percentile({7}, 0.99), 7);
  const tool::Spread spread = tool::spreadOf(hundred);
  EXPECT_EQ(spread.least, 1);
  EXPECT_EQ(spread.q1, 25);
  EXPECT_EQ(spread.q3, 75);
  EXPECT_EQ(spread.most, 100);
}

TEST(Ceilings, AreMeasuredWithAndWithoutWideRegisters) {
  alignas(64) static const char memory[3 * 4096 + 100] = {};
  for (const uint64_t features : {uint64_t(0), uint64_t(LLMC_CPU_AVX2 | LLMC_CPU_FMA)}) {
    if (features && !__builtin_cpu_supports("avx2"))
      continue;
    Result<ceilings::Ceilings> found =
        ceilings::measureCeilings({{memory + 1, sizeof memory - 1}, features, {{memory, 4096}}}, /*threads=*/2);
    ASSERT_TRUE(found);
    EXPECT_GT(found->read, 0);
    EXPECT_GT(found->readWeights, 0);
    EXPECT_GT(found->f32, 0);
    EXPECT_GT(found->int8, 0);
  }
  Result<ceilings::Ceilings> nothing = ceilings::measureCeilings({}, 1);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->read, 0) << "a model without weights";
}

} // namespace
} // namespace llmc::test
