// SPDX-License-Identifier: Apache-2.0
//
// Numbers stored in 16 bits, as PTX: the CPU's bits, which test/passes/codegen/cpu judges. NaNs are
// left out: a GPU's conversion to f16 has one, the CPU's keeps what it was.
#include "test/e2e/optable/BlockPrograms.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace llmc::test {
namespace {

/// Dots with a stored matrix, and their results stored: tiles wider than a warp, and one element.
std::string dotsOf(const std::string &element) {
  std::string text = R"(
tile.kernel @dots(%step: !tile.step, %x: !tile.view<40xf32>, %w: !tile.view<40x70xE>,
                  %v: !tile.view<70x40xE>, %by: !tile.view<70xf32>, %across: !tile.view<70xf32>,
                  %stored: !tile.view<2x70xE>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c68 = arith.constant 68 : index
  %c69 = arith.constant 69 : index
  %zero = arith.constant dense<0.0> : tensor<70xf32>
  %a = tile.load %x[%c0] : !tile.view<40xf32> -> tensor<40xf32>
  %b = tile.load %w[%c0, %c0] : !tile.view<40x70xE> -> tensor<40x70xE>
  %s = tile.dot (%a) by %b into (%zero) : tensor<40xf32>, tensor<40x70xE>, tensor<70xf32>
  %bt = tile.load %v[%c0, %c0] : !tile.view<70x40xE> -> tensor<70x40xE>
  %t = tile.dot (%a) by_transposed %bt into (%zero) {lanes = 8 : i64} : tensor<40xf32>, tensor<70x40xE>, tensor<70xf32>
  tile.store %s, %by[%c0] : tensor<70xf32>, !tile.view<70xf32>
  tile.store %t, %across[%c0] : tensor<70xf32>, !tile.view<70xf32>
  %rs = arith.truncf %s : tensor<70xf32> to tensor<70xE>
  tile.store %rs, %stored[%c0, %c0] : tensor<70xE>, !tile.view<2x70xE>
  %rt = arith.truncf %t : tensor<70xf32> to tensor<70xE>
  tile.store %rt, %stored[%c1, %c0] valid %c69 : tensor<70xE>, !tile.view<2x70xE>
  %one = tile.load %v[%c68, %c1] : !tile.view<70x40xE> -> E
  tile.store %one, %stored[%c1, %c69] : E, !tile.view<2x70xE>
  tile.return
}

tile.kernel @round(%step: !tile.step, %x: !tile.view<?x70xf32>, %y: !tile.view<?x70xE>,
                   %z: !tile.view<?x70xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%r, %c0] : !tile.view<?x70xf32> -> tensor<70xf32>
  %b = arith.truncf %a : tensor<70xf32> to tensor<70xE>
  %c = arith.extf %b : tensor<70xE> to tensor<70xf32>
  tile.store %b, %y[%r, %c0] : tensor<70xE>, !tile.view<?x70xE>
  tile.store %c, %z[%r, %c0] : tensor<70xf32>, !tile.view<?x70xf32>
  tile.return
}
)";
  for (const char *before : {"xE", " E"})
    for (size_t at = 0; (at = text.find(before, at)) != std::string::npos; ++at)
      text.replace(at + 1, 1, element);
  return text;
}

/// Two of 16 bits a word. Of bits 14 to 7 and so of exponents few are set: numbers around 1.
std::vector<uint32_t> storedNumbers(size_t count, const std::string &element) {
  std::mt19937 generator(5);
  std::vector<uint32_t> words(count / 2);
  for (uint32_t &word : words)
    for (int shift : {0, 16}) {
      uint32_t sign = generator() % 2 << 15;
      uint32_t size =
          element == "bf16" ? 0x3e80 + generator() % 0x180 : 0x3400 + generator() % 0xc00;
      word |= (sign | size) << shift;
    }
  return words;
}

class StoredTest : public testing::TestWithParam<const char *> {};

TEST_P(StoredTest, cpu_and_ptx_give_the_same_bits) {
  BlockPrograms programs(dotsOf(GetParam()));
  auto expectBoth = [&](const std::string &kernel, const Buffers &buffers, uint32_t count) {
    std::string error;
    Buffers cpu = programs.runOnCpu(kernel, buffers, count, count);
    EXPECT_EQ(cpu, BlockPrograms::runPtx(programs.ptx(), kernel, buffers, count, error, count));
    EXPECT_EQ(error, "");
    EXPECT_NE(cpu, buffers);
  };
  std::vector<uint32_t> unwritten(70, kNaN);
  expectBoth("dots",
             {asBits(cpu::test::randomFloats(40, 1)), storedNumbers(40 * 70, GetParam()),
              storedNumbers(70 * 40, GetParam()), unwritten, unwritten, unwritten},
             1);
  // Ties, their neighbours, numbers that overflow or are subnormal when stored, zeros, infinities.
  std::vector<uint32_t> numbers;
  for (uint32_t high = 0; numbers.size() < 70 * 40; high = (high + 0x0171) & 0xffff)
    for (uint32_t low : {0x0000u, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u})
      if (uint32_t bits = high << 16 | low; !std::isnan(asFloats({bits}).front()))
        numbers.push_back(bits);
  numbers.resize(70 * 40);
  expectBoth("round",
             {numbers, std::vector<uint32_t>(35 * 40, kNaN), std::vector<uint32_t>(70 * 40, kNaN)},
             40);
}

INSTANTIATE_TEST_SUITE_P(elements, StoredTest, testing::Values("bf16", "f16"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param);
                         });

} // namespace
} // namespace llmc::test
