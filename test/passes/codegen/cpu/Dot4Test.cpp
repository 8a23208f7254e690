// SPDX-License-Identifier: Apache-2.0
//
// tile.dot4 is exact: chains of every length, extreme bytes, widths that do not fill registers.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <gtest/gtest.h>
#include <random>

using namespace llmc::cpu::test;

/// y[row] = the chain of `links` dot4 of x[row][link] by w[link], from c[row] on.
static std::string chainKernel(int width, int links, int rows, int bits, bool signedWeights = false) {
  auto number = [](int n) { return std::to_string(n); };
  std::string t = "tensor<" + number(width) + "xi32>",
              w = "!tile.view<" + number(links) + "x" + number(width) + "xi32>";
  std::string x = "!tile.view<" + number(rows) + "x" + number(links) + "x" + number(width) +
                  "xi32>",
              y = "!tile.view<" + number(rows) + "x" + number(width) + "xi32>";
  std::string text = "tile.kernel @k(%step: !tile.step, %x: " + x + ", %w: " + w + ", %c: " + y +
                     ", %y: " + y + ") {\n";
  for (int i = 0; i < std::max(links, rows); ++i)
    text += "  %i" + number(i) + " = arith.constant " + number(i) + " : index\n";
  for (int row = 0; row < rows; ++row)
    text += "  %s" + number(row) + "_0 = tile.load %c[%i" + number(row) + ", %i0] : " + y + " -> " +
            t + "\n";
  for (int link = 0; link < links; ++link) {
    std::string l = number(link), results, values, sums;
    text += "  %w" + l + " = tile.load %w[%i" + l + ", %i0] : " + w + " -> " + t + "\n";
    for (int row = 0; row < rows; ++row) {
      std::string r = number(row), comma = row ? ", " : "";
      text += "  %x" + r + "_" + l + " = tile.load %x[%i" + r + ", %i" + l + ", %i0] : " + x +
              " -> " + t + "\n";
      results += comma + "%s" + r + "_" + number(link + 1), values += comma + "%x" + r + "_" + l,
          sums += comma + "%s" + r + "_" + l;
    }
    text += "  " + results + " = tile.dot4 (" + values + ") by %w" + l + " into (" + sums +
            ") {bits = " + number(bits) + " : i64" + (signedWeights ? ", signed_weights" : "") + "} : " + t + "\n";
  }
  for (int row = 0; row < rows; ++row)
    text += "  tile.store %s" + number(row) + "_" + number(links) + ", %y[%i" + number(row) +
            ", %i0] : " + t + ", " + y + "\n";
  return text + "  tile.return\n}\n";
}

TEST(Dot4, chains_are_exact) {
  for (int bits : {4, 7, 8})
    for (int width : {8, 20, 32})
      for (int links : {1, 3, 9, 17}) {
        const int rows = 2;
        CompiledKernels kernels(chainKernel(width, links, rows, bits));
        for (bool extreme : {false, true}) {
          std::mt19937 generator(bits * width + links);
          auto byte = [&](uint32_t random, uint32_t most) {
            return extreme ? most : random & most;
          };
          std::vector<uint32_t> x(rows * links * width), w(links * width);
          std::vector<int32_t> c(rows * width), y(rows * width), expected;
          for (uint32_t &word : x) // -128 is the byte that makes 16-bit sums smallest
            word = extreme ? 0x80808080u : uint32_t(generator());
          for (uint32_t &word : w)
            for (int b = 0; b < 4; ++b)
              word |= byte(uint32_t(generator()), (1u << bits) - 1) << (8 * b);
          for (int32_t &word : c)
            word = int32_t(generator());
          kernels.run("k", {x.data(), w.data(), c.data(), y.data()}, 0, 1);
          for (int row = 0; row < rows; ++row)
            for (int i = 0; i < width; ++i) {
              uint32_t sum = uint32_t(c[row * width + i]);
              for (int link = 0; link < links; ++link)
                for (int b = 0; b < 4; ++b) {
                  int value = int8_t(x[(row * links + link) * width + i] >> (8 * b));
                  sum += uint32_t(value * int((w[link * width + i] >> (8 * b)) & 255));
                }
              expected.push_back(int32_t(sum));
            }
          ASSERT_EQ(y, expected) << "bits " << bits << " width " << width << " links " << links
                                 << " extreme " << extreme;
        }
      }
}

/// Rows never hold -128: its size has no sign to turn.
TEST(Dot4, signed_weights_are_exact_on_every_level) {
  const int rows = 2, links = 5;
  for (const std::string &level : levelsHere())
    for (int width : {8, 20, 32})
      for (bool extreme : {false, true}) {
        CompiledKernels kernels(chainKernel(width, links, rows, 8, true), level);
        std::mt19937 generator(width);
        std::vector<int8_t> x(4 * rows * links * width), w(4 * links * width);
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = extreme ? (i % 3 ? -127 : 127) : int8_t(generator() % 255 - 127);
        for (size_t i = 0; i < w.size(); ++i)
          w[i] = extreme ? (i % 5 ? -128 : 127) : int8_t(generator());
        std::vector<int32_t> c(rows * width, 7), y(rows * width), expected;
        kernels.run("k", {x.data(), w.data(), c.data(), y.data()}, 0, 1);
        for (int row = 0; row < rows; ++row)
          for (int i = 0; i < width; ++i) {
            int32_t sum = 7;
            for (int link = 0; link < links; ++link)
              for (int b = 0; b < 4; ++b)
                sum += x[4 * ((row * links + link) * width + i) + b] * w[4 * (link * width + i) + b];
            expected.push_back(sum);
          }
        ASSERT_EQ(y, expected) << level << " width " << width << " extreme " << extreme;
      }
}
