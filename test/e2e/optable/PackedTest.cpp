// SPDX-License-Identifier: Apache-2.0
//
// Packed weights as PTX: what the unpacked numbers give, in the CPU's bits. Sums of integers are
// exact; scales are applied in one order on both.
#include "test/e2e/optable/PackedLinear.h"
#include <gtest/gtest.h>
#include <random>

namespace llmc::test {

void PrintTo(const PackedLinear &linear, std::ostream *stream) {
  *stream << linear.name();
} // for failures of the test

namespace {

class PackedTest : public testing::TestWithParam<PackedLinear> {};

TEST_P(PackedTest, cpu_and_ptx_give_the_same_bits_and_what_the_reference_gives) {
  const PackedLinear &linear = GetParam();
  BlockPrograms programs(linear.source());
  std::string error;
  Buffers cpu =
      programs.runOnCpu("linear", linear.buffers(), linear.programs(), uint32_t(linear.rows));
  Buffers ptx = BlockPrograms::runPtx(programs.ptx(), "linear", linear.buffers(), linear.programs(),
                                      error, uint32_t(linear.rows));
  ASSERT_EQ(error, "");
  double largest = 0;
  EXPECT_EQ(findingIn(linear, cpu), "");
  EXPECT_EQ(findingIn(linear, ptx, &largest), "");
  EXPECT_EQ(cpu, ptx);
  printf("error: %.2g\n", largest);
}

INSTANTIATE_TEST_SUITE_P(rows, PackedTest,
                         testing::Values(PackedLinear{1, 32, 32, 4}, PackedLinear{1, 64, 96, 4},
                                         PackedLinear{1, 70, 33, 4}, PackedLinear{2, 33, 130, 4},
                                         PackedLinear{3, 130, 70, 4}, PackedLinear{1, 1, 1, 4},
                                         PackedLinear{1, 64, 96, 8}, PackedLinear{2, 33, 130, 8},
                                         PackedLinear{1, 1, 31, 8}),
                         [](const testing::TestParamInfo<PackedLinear> &info) {
                           return info.param.name();
                         });

/// y[i] = the chain of two dot4 of x by w, from c[i] on.
std::string chainOf(int width, int bits) {
  std::string text = R"(
tile.kernel @chain(%step: !tile.step, %x: !tile.view<2xT>, %w: !tile.view<2xT>, %c: !tile.view<T>,
                   %y: !tile.view<T>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x0 = tile.load %x[%c0, %c0] : !tile.view<2xT> -> tensor<T>
  %x1 = tile.load %x[%c1, %c0] : !tile.view<2xT> -> tensor<T>
  %w0 = tile.load %w[%c0, %c0] : !tile.view<2xT> -> tensor<T>
  %w1 = tile.load %w[%c1, %c0] : !tile.view<2xT> -> tensor<T>
  %start = tile.load %c[%c0] : !tile.view<T> -> tensor<T>
  %sum = tile.dot4 (%x0) by %w0 into (%start) {bits = B : i64} : tensor<T>
  %all = tile.dot4 (%x1) by %w1 into (%sum) {bits = B : i64} : tensor<T>
  tile.store %all, %y[%c0] : tensor<T>, !tile.view<T>
  tile.return
}
)";
  const std::pair<std::string, std::string> words[] = {
      {"xT>", "x" + std::to_string(width) + "xi32>"},
      {"<T>", "<" + std::to_string(width) + "xi32>"},
      {"B :", std::to_string(bits) + " :"}};
  for (const auto &[word, value] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

/// The largest products of each sign, sums that wrap at 32 bits, tiles of less and more than a
/// warp.
TEST(PackedProducts, are_exact_and_wrap) {
  for (int bits : {4, 8})
    for (int width : {8, 20, 32, 70}) {
      BlockPrograms programs(chainOf(width, bits));
      std::mt19937 generator(unsigned(width + bits));
      uint32_t mask = (uint32_t(1) << bits) - 1, all = 0x01010101 * mask;
      std::vector<uint32_t> x, w, c, expected;
      for (int i = 0; i < 2 * width; ++i) {
        const uint32_t extremes[] = {0x80808080, 0x7f7f7f7f, 0xff00ff00, uint32_t(generator())};
        x.push_back(extremes[i % 4]);
        w.push_back(i % 8 < 4 ? all : uint32_t(generator()) & all);
      }
      for (int i = 0; i < width; ++i) {
        c.push_back(i % 2 ? 0x7ffffff0 : uint32_t(generator()));
        uint32_t sum = c[i];
        for (int link : {i, width + i})
          for (int b = 0; b < 32; b += 8)
            sum += uint32_t(int32_t(int8_t(x[link] >> b)) * int32_t((w[link] >> b) & 255));
        expected.push_back(sum);
      }
      Buffers buffers = {x, w, c, std::vector<uint32_t>(width, kNaN)};
      std::string error;
      EXPECT_EQ(programs.runOnCpu("chain", buffers, 1).back(), expected) << bits << " " << width;
      EXPECT_EQ(BlockPrograms::runPtx(programs.ptx(), "chain", buffers, 1, error).back(), expected)
          << bits << " " << width;
      EXPECT_EQ(error, "");
    }
}

} // namespace
} // namespace llmc::test
