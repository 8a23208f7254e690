// SPDX-License-Identifier: Apache-2.0
//
// Numbers stored in 16 bits: conversions against the formats' definitions, dots against plain loops
// over the extended elements, bit for bit, on every level that this machine has. And integer tiles
// as quantised kernels use them.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace llmc::cpu::test;

namespace {

std::string number(int64_t n) { return std::to_string(n); }

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float extendBF16(uint16_t stored) { return floatOf(uint32_t(stored) << 16); }

/// sign, 5 bits of exponent, 10 of mantissa.
float extendF16(uint16_t stored) {
  int exponent = (stored >> 10) & 31, mantissa = stored & 1023;
  double size = exponent == 0    ? std::ldexp(mantissa, -24)
                : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                 : std::ldexp(1024 + mantissa, exponent - 25);
  return float(stored & 0x8000 ? -size : size);
}

float extend(const std::string &element, uint16_t stored) {
  return element == "bf16" ? extendBF16(stored) : extendF16(stored);
}

/// The nearest of all stored numbers, the even one of two: by search, not by arithmetic on bits.
uint16_t nearestStored(const std::string &element, float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  uint16_t infinite = element == "bf16" ? 0x7f80 : 0x7c00;
  double size = std::fabs(double(value));
  uint16_t low = 0, high = infinite; // low's value <= size
  while (high - low > 1) {
    uint16_t middle = uint16_t((low + high) / 2);
    (double(extend(element, middle)) <= size ? low : high) = middle;
  }
  double below = extend(element, low);
  double step = below - double(extend(element, low ? uint16_t(low - 1) : 1));
  double above = high == infinite ? below + std::fabs(step) : extend(element, high);
  double middle = (below + above) / 2;
  bool up = size > middle || (size == middle && (low & 1));
  return uint16_t(sign | (up ? high : low));
}

std::string convertKernel(const std::string &from, const std::string &to, const char *op) {
  return "tile.kernel @k(%step: !tile.step, %x: !tile.view<?x32x" + from +
         ">, %y: !tile.view<?x32x" + to + ">) {\n  %r = tile.program_id line\n" +
         "  %c0 = arith.constant 0 : index\n  %c31 = arith.constant 31 : index\n" +
         "  %n31 = arith.constant 31 : index\n" + "  %a = tile.load %x[%r, %c0] valid %n31 : " +
         "!tile.view<?x32x" + from + "> -> tensor<32x" + from + ">\n  %b = arith." + op +
         " %a : tensor<32x" + from + "> to tensor<32x" + to +
         ">\n  tile.store %b, %y[%r, %c0] valid %n31 : tensor<32x" + to + ">, !tile.view<?x32x" +
         to + ">\n  %s = tile.load %x[%r, %c31] : !tile.view<?x32x" + from + "> -> " + from +
         "\n  %t = arith." + op + " %s : " + from + " to " + to +
         "\n  tile.store %t, %y[%r, %c31] : " + to + ", !tile.view<?x32x" + to +
         ">\n  tile.return\n}\n";
}

} // namespace

/// All 65536 of them, 31 as a tile and one as an element in turn.
TEST(Stored, extending_is_exact) {
  for (const std::string &level : levelsHere())
    for (std::string element : {"bf16", "f16"}) {
      CompiledKernels kernels(convertKernel(element, "f32", "extf"), level);
      std::vector<uint16_t> x(65536);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = uint16_t(i * 40503); // odd: every number once, in an order that mixes signs
      std::vector<float> y(x.size());
      kernels.run("k", {x.data(), y.data()}, 0, uint32_t(x.size() / 32));
      for (size_t i = 0; i < x.size(); ++i) {
        float expected = extend(element, x[i]);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(y[i]) : bitsOf(y[i]) == bitsOf(expected))
            << level << " " << element << " " << x[i];
      }
    }
}

TEST(Stored, rounding_is_to_nearest_even) {
  std::vector<float> x;
  for (uint32_t high = 0; high < 65536; high += 7) // ties, their neighbours, subnormals, infinities
    for (uint32_t low : {0x0000u, 0x0001u, 0x1000u, 0x1001u, 0x2000u, 0x3000u, 0x7fffu, 0x8000u,
                         0x8001u, 0xffffu})
      x.push_back(floatOf(high << 16 | low));
  for (float value : {65504.0f, 65519.99f, 65520.0f, 3.4028235e38f, 3.3961776e38f, INFINITY,
                      0x1p-24f, 0x1p-25f, 0x1.8p-25f, 0x1p-133f, 0x1p-134f, 0x1.8p-134f, NAN})
    x.push_back(value), x.push_back(-value);
  x.resize((x.size() + 31) / 32 * 32);
  for (const std::string &level : levelsHere())
    for (std::string element : {"bf16", "f16"}) {
      CompiledKernels kernels(convertKernel("f32", element, "truncf"), level);
      std::vector<uint16_t> y(x.size());
      kernels.run("k", {x.data(), y.data()}, 0, uint32_t(x.size() / 32));
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i]))
          ASSERT_TRUE(std::isnan(extend(element, y[i]))) << level << " " << element;
        else
          ASSERT_EQ(y[i], nearestStored(element, x[i]))
              << level << " " << element << " " << x[i] << " found " << extend(element, y[i]);
      }
    }
}

namespace {

/// y = rows x by the K x N (or N x K) matrix w, from c on.
std::string dotKernel(const std::string &element, int k, int n, bool transposed, int lanes) {
  std::string matrix = (transposed ? number(n) + "x" + number(k) : number(k) + "x" + number(n)) +
                       "x" + element;
  std::string x = "!tile.view<2x" + number(k) + "xf32>", y = "!tile.view<2x" + number(n) + "xf32>";
  std::string a = "tensor<" + number(k) + "xf32>", s = "tensor<" + number(n) + "xf32>";
  std::string text = "tile.kernel @k(%step: !tile.step, %x: " + x + ", %w: !tile.view<" + matrix +
                     ">, %y: " + y +
                     ") {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n";
  for (std::string row : {"0", "1"})
    text += "  %a" + row + " = tile.load %x[%c" + row + ", %c0] : " + x + " -> " + a + "\n  %s" +
            row + " = tile.load %y[%c" + row + ", %c0] : " + y + " -> " + s + "\n";
  text += "  %b = tile.load %w[%c0, %c0] : !tile.view<" + matrix + "> -> tensor<" + matrix +
          ">\n  %d0, %d1 = tile.dot (%a0, %a1) by" + (transposed ? "_transposed" : "") +
          " %b into (%s0, %s1)" +
          (transposed ? " {lanes = " + number(lanes) + " : i64}" : std::string()) + " : " + a +
          ", tensor<" + matrix + ">, " + s + "\n";
  for (std::string row : {"0", "1"})
    text += "  tile.store %d" + row + ", %y[%c" + row + ", %c0] : " + s + ", " + y + "\n";
  return text + "  tile.return\n}\n";
}

float halvingTree(std::vector<float> lanes) {
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      lanes[i] = lanes[i] + lanes[i + half];
  return lanes[0];
}

/// Finite stored numbers of both signs, some of them subnormal.
std::vector<uint16_t> randomStored(const std::string &element, size_t count, unsigned seed) {
  std::vector<float> values = randomFloats(count, seed);
  std::vector<uint16_t> stored;
  for (size_t i = 0; i < count; ++i)
    stored.push_back(i % 11 == 3 ? uint16_t(i & 0x807f) : nearestStored(element, values[i]));
  return stored;
}

} // namespace

/// The matrix's elements are extended, then the same chain of fma as with a matrix of f32.
TEST(Stored, dots_extend_the_matrix_exactly) {
  for (const std::string &level : levelsHere())
    for (std::string element : {"bf16", "f16"})
      for (int k : {8, 64, 200})
        for (int n : {8, 20, 32, 64})
          for (bool transposed : {false, true}) {
            const int lanes = 8;
            CompiledKernels kernels(dotKernel(element, k, n, transposed, lanes), level);
            std::vector<float> x = randomFloats(2 * k, 1), y = randomFloats(2 * n, 2), expected = y;
            std::vector<uint16_t> w = randomStored(element, size_t(k * n), 3);
            for (int row = 0; row < 2; ++row)
              for (int i = 0; i < n; ++i) {
                float &sum = expected[row * n + i];
                std::vector<float> partial(lanes);
                for (int j = 0; j < k; ++j) {
                  float b = extend(element, transposed ? w[i * k + j] : w[j * n + i]);
                  float &chain = transposed ? partial[j % lanes] : sum;
                  chain = std::fma(x[row * k + j], b, chain);
                }
                if (transposed)
                  sum += halvingTree(partial);
              }
            kernels.run("k", {x.data(), w.data(), y.data()}, 0, 1);
            ASSERT_EQ(differences(y, expected), 0u)
                << level << " " << element << " k " << k << " n " << n << " transposed "
                << transposed;
          }
}

/// What lies beyond a count is neither read nor written, whether the count is known or not.
TEST(Stored, counts_bound_loads_and_stores) {
  for (const std::string &level : levelsHere())
    for (bool known : {false, true})
      for (int count : {-3, 0, 1, 5, 16, 19, 32, 40}) {
        std::string n = known ? "%n = arith.constant " + number(count) + " : index\n"
                              : "%w = tile.load %c[%c0] : !tile.view<1xi32> -> i32\n"
                                "%n = arith.index_cast %w : i32 to index\n";
        CompiledKernels kernels(
            "tile.kernel @k(%step: !tile.step, %c: !tile.view<1xi32>, %x: !tile.view<32xbf16>, "
            "%y: !tile.view<32xbf16>, %z: !tile.view<32xf32>) {\n"
            "%c0 = arith.constant 0 : index\n" +
                n + R"(
  %a = tile.load %x[%c0] valid %n : !tile.view<32xbf16> -> tensor<32xbf16>
  tile.store %a, %y[%c0] valid %n : tensor<32xbf16>, !tile.view<32xbf16>
  %b = arith.extf %a : tensor<32xbf16> to tensor<32xf32>
  tile.store %b, %z[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
})",
            level);
        int32_t word = count;
        std::vector<uint16_t> x(32), y(32, 7);
        std::vector<float> z(32, NAN);
        for (int i = 0; i < 32; ++i)
          x[i] = uint16_t(0x3f80 + i);
        kernels.run("k", {&word, x.data(), y.data(), z.data()}, 0, 1);
        for (int i = 0; i < 32; ++i) {
          EXPECT_EQ(y[i], i < count ? x[i] : 7) << level << " " << known << " " << count;
          EXPECT_EQ(z[i], i < count ? extendBF16(x[i]) : 0.0f) << level << " " << known;
        }
      }
}

/// A group of 32 numbers becomes signed bytes, four to a word (columns i, 8 + i, 16 + i, 24 + i),
/// and comes back; scales travel as f16.
TEST(Stored, groups_become_bytes_and_come_back) {
  std::string text = R"(
tile.kernel @k(%step: !tile.step, %x: !tile.view<?x32xf32>, %words: !tile.view<?x8xi32>,
               %scales: !tile.view<?xf16>, %y: !tile.view<?x32xf32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %all = tile.load %x[%r, %c0] : !tile.view<?x32xf32> -> tensor<32xf32>
  %sizes = math.absf %all : tensor<32xf32>
  %largest = tile.reduce max %sizes : tensor<32xf32> -> f32
  %most = arith.constant 127.0 : f32
  %ratio = arith.divf %largest, %most : f32
  %stored = arith.truncf %ratio : f32 to f16
  tile.store %stored, %scales[%r] : f16, !tile.view<?xf16>
  %scale = arith.extf %stored : f16 to f32
  %zero = arith.constant 0.0 : f32
  %empty = arith.cmpf oeq, %scale, %zero : f32
  %one = arith.constant 1.0 : f32
  %divisor = arith.select %empty, %one, %scale : f32
  %divisors = tile.broadcast %divisor : f32 -> tensor<8xf32>
  %mask = arith.constant dense<255> : tensor<8xi32>
  %none = arith.constant dense<0> : tensor<8xi32>
  %w0 = arith.addi %none, %none : tensor<8xi32>
)";
  for (int byte = 0; byte < 4; ++byte) {
    std::string b = number(byte), next = number(byte + 1);
    text += "  %at" + b + " = arith.constant " + number(8 * byte) + " : index\n  %shift" + b +
            " = arith.constant dense<" + number(8 * byte) + "> : tensor<8xi32>\n  %v" + b +
            " = tile.load %x[%r, %at" + b + "] : !tile.view<?x32xf32> -> tensor<8xf32>\n  %q" + b +
            " = arith.divf %v" + b + ", %divisors : tensor<8xf32>\n  %n" + b +
            " = math.roundeven %q" + b + " : tensor<8xf32>\n  %i" + b + " = arith.fptosi %n" + b +
            " : tensor<8xf32> to tensor<8xi32>\n  %m" + b + " = arith.andi %i" + b +
            ", %mask : tensor<8xi32>\n  %s" + b + " = arith.shli %m" + b + ", %shift" + b +
            " : tensor<8xi32>\n  %w" + next + " = arith.ori %w" + b + ", %s" + b +
            " : tensor<8xi32>\n";
  }
  text += "  tile.store %w4, %words[%r, %c0] : tensor<8xi32>, !tile.view<?x8xi32>\n"
          "  %top = arith.constant dense<24> : tensor<8xi32>\n"
          "  %factors = tile.broadcast %scale : f32 -> tensor<8xf32>\n";
  for (int byte = 0; byte < 4; ++byte) {
    std::string b = number(byte);
    text += "  %up" + b + " = arith.constant dense<" + number(24 - 8 * byte) +
            "> : tensor<8xi32>\n  %l" + b + " = arith.shli %w4, %up" + b +
            " : tensor<8xi32>\n  %d" + b + " = arith.shrsi %l" + b + ", %top : tensor<8xi32>\n" +
            "  %f" + b + " = arith.sitofp %d" + b + " : tensor<8xi32> to tensor<8xf32>\n  %p" + b +
            " = arith.mulf %f" + b + ", %factors : tensor<8xf32>\n  tile.store %p" + b +
            ", %y[%r, %at" + b + "] : tensor<8xf32>, !tile.view<?x32xf32>\n";
  }
  text += "  tile.return\n}\n";
  for (const std::string &level : levelsHere()) {
    CompiledKernels kernels(text, level);
    const int groups = 9;
    std::vector<float> x = randomFloats(groups * 32, 6), y(x.size());
    for (int i = 0; i < 32; ++i)
      x[32 + i] = i == 5 ? -0.5f : 0, x[64 + i] = 0; // one number; a group of zeros
    std::vector<uint32_t> words(groups * 8);
    std::vector<uint16_t> scales(groups);
    kernels.run("k", {x.data(), words.data(), scales.data(), y.data()}, 0, groups);
    for (int g = 0; g < groups; ++g) {
      float largest = 0;
      for (int i = 0; i < 32; ++i)
        largest = std::max(largest, std::fabs(x[g * 32 + i]));
      ASSERT_EQ(scales[g], nearestStored("f16", largest / 127.0f)) << level;
      float scale = extendF16(scales[g]), divisor = scale == 0 ? 1 : scale;
      for (int i = 0; i < 32; ++i) {
        int byte = int8_t(words[g * 8 + i % 8] >> (8 * (i / 8)));
        ASSERT_EQ(byte, int(std::nearbyint(x[g * 32 + i] / divisor))) << level << " " << g << i;
        ASSERT_EQ(bitsOf(y[g * 32 + i]), bitsOf(float(byte) * scale)) << level;
      }
    }
  }
}

/// Words are read one at a time and given to all lanes, bits pass between types, fields widen.
TEST(Stored, words_are_elements_too) {
  for (const std::string &level : levelsHere()) {
    CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %x: !tile.view<?xi32>, %y: !tile.view<?x4x8xi32>) {
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %word = tile.load %x[%r] : !tile.view<?xi32> -> i32
  %all = tile.broadcast %word : i32 -> tensor<8xi32>
  %lanes = tile.iota : tensor<8xi32>
  %shifted = arith.shrui %all, %lanes : tensor<8xi32>
  %three = arith.constant dense<3> : tensor<8xi32>
  %product = arith.muli %shifted, %three : tensor<8xi32>
  %rest = arith.subi %product, %lanes : tensor<8xi32>
  tile.store %rest, %y[%r, %c0, %c0] : tensor<8xi32>, !tile.view<?x4x8xi32>
  %float = arith.bitcast %word : i32 to f32
  %floats = arith.bitcast %all : tensor<8xi32> to tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %doubled = arith.mulf %floats, %two : tensor<8xf32>
  %least = tile.broadcast %float : f32 -> tensor<8xf32>
  %larger = arith.maximumf %doubled, %least : tensor<8xf32>
  %bits = arith.bitcast %larger : tensor<8xf32> to tensor<8xi32>
  tile.store %bits, %y[%r, %c1, %c0] : tensor<8xi32>, !tile.view<?x4x8xi32>
  %narrow = arith.trunci %shifted : tensor<8xi32> to tensor<8xi8>
  %signed = arith.extsi %narrow : tensor<8xi8> to tensor<8xi32>
  tile.store %signed, %y[%r, %c2, %c0] : tensor<8xi32>, !tile.view<?x4x8xi32>
  %unsigned = arith.extui %narrow : tensor<8xi8> to tensor<8xi32>
  tile.store %unsigned, %y[%r, %c3, %c0] : tensor<8xi32>, !tile.view<?x4x8xi32>
  tile.return
})",
                            level);
    std::vector<uint32_t> x = {0x3f812345u, 0xc0490fdbu, 0x42f6e979u}, y(3 * 32);
    kernels.run("k", {x.data(), y.data()}, 0, 3);
    for (size_t r = 0; r < 3; ++r)
      for (uint32_t i = 0; i < 8; ++i) {
        uint32_t shifted = x[r] >> i;
        float value = floatOf(x[r]);
        EXPECT_EQ(y[r * 32 + i], shifted * 3 - i);
        EXPECT_EQ(y[r * 32 + 8 + i], bitsOf(std::max(2 * value, value)));
        EXPECT_EQ(y[r * 32 + 16 + i], uint32_t(int32_t(int8_t(shifted))));
        EXPECT_EQ(y[r * 32 + 24 + i], shifted & 255);
      }
  }
}
