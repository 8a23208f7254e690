// SPDX-License-Identifier: Apache-2.0
//
// tile.dot and tile.reduce against plain loops, bit for bit: their order of operations is a
// promise.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::cpu::test;

static std::string number(int64_t n) { return std::to_string(n); }
static std::string tensor(int64_t n) { return "tensor<" + number(n) + "xf32>"; }

/// sum[n] = fma(a[k], b[k * stride + n], sum[n]) for k ascending.
static std::vector<float> dotBy(const float *a, const float *b, int64_t stride,
                                std::vector<float> sum, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k)
    for (size_t n = 0; n < sum.size(); ++n)
      sum[n] = std::fma(a[k], b[k * stride + n], sum[n]);
  return sum;
}

static float halvingTree(std::vector<float> lanes) {
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      lanes[i] = lanes[i] + lanes[i + half];
  return lanes[0];
}

/// y rows = x rows (`rowTile` a program) times panels of `n` columns (one panel a program), one dot
/// over all of K.
static std::string gemv(int k, int n, int panels, int rowTile) {
  std::string x = "!tile.view<?x" + number(k) + "xf32>",
              w = "!tile.view<" + number(panels) + "x" + number(k) + "x" + number(n) + "xf32>";
  std::string y = "!tile.view<?x" + number(panels * n) + "xf32>";
  std::string text =
      "tile.kernel @k(%step: !tile.step, %x: " + x + ", %w: " + w + ", %y: " + y +
      ") attributes {tile.inner = " + number(panels) +
      " : i64} {\n  %l = tile.program_id line\n  %p = tile.program_id inner\n"
      "  %c0 = arith.constant 0 : index\n  %tile = arith.constant " +
      number(rowTile) +
      " : index\n"
      "  %n = arith.constant " +
      number(n) +
      " : index\n  %column = arith.muli %p, %n : index\n"
      "  %r0 = arith.muli %l, %tile : index\n  %zero = arith.constant dense<0.0> : " +
      tensor(n) +
      "\n"
      "  %b = tile.load %w[%p, %c0, %c0] : " +
      w + " -> tensor<" + number(k) + "x" + number(n) + "xf32>\n";
  std::string rows, zeros, results;
  for (int m = 0; m < rowTile; ++m) {
    std::string i = number(m), comma = m ? ", " : "";
    text += "  %o" + i + " = arith.constant " + i + " : index\n  %row" + i +
            " = arith.addi %r0, %o" + i + " : index\n" + "  %a" + i + " = tile.load %x[%row" + i +
            ", %c0] : " + x + " -> " + tensor(k) + "\n";
    rows += comma + "%a" + i, zeros += comma + "%zero", results += comma + "%s" + i;
  }
  text += "  " + results + " = tile.dot (" + rows + ") by %b into (" + zeros + ") : " + tensor(k) +
          ", tensor<" + number(k) + "x" + number(n) + "xf32>, " + tensor(n) + "\n";
  for (int m = 0; m < rowTile; ++m)
    text += "  tile.store %s" + number(m) + ", %y[%row" + number(m) + ", %column] : " + tensor(n) +
            ", " + y + "\n";
  return text + "  tile.return\n}\n";
}

TEST(Dot, panels_give_the_same_bits_for_every_row_tile) {
  const int rows = 12;
  for (int k : {1, 7, 64, 577})
    for (int n : {32, 8, 20}) {
      std::vector<float> x = randomFloats(rows * k, 1), w = randomFloats(3 * k * n, 2);
      for (int rowTile : {1, 2, 3, 4, 12}) {
        CompiledKernels kernels(gemv(k, n, 3, rowTile));
        std::vector<float> y(rows * 3 * n, -77.0f);
        kernels.run("k", {x.data(), w.data(), y.data()}, 0, 3 * rows / rowTile);
        for (int r = 0; r < rows; ++r)
          for (int p = 0; p < 3; ++p) {
            std::vector<float> expected =
                dotBy(&x[r * k], &w[p * k * n], n, std::vector<float>(n), k);
            std::vector<float> found(&y[(r * 3 + p) * n], &y[(r * 3 + p) * n] + n);
            ASSERT_EQ(differences(found, expected), 0u)
                << "k " << k << " n " << n << " row tile " << rowTile << " row " << r;
          }
      }
    }
}

/// Rows beyond `valid` are NaN and must leave no trace; a computed row goes through the stack.
TEST(Dot, valid_ends_the_sum) {
  for (bool computed : {false, true})
    for (int width : {16, 64}) {
      std::string k = number(64), w = number(width), view = "!tile.view<64x" + w + "xf32>";
      CompiledKernels kernels(
          R"(
tile.kernel @k(%step: !tile.step, %n: !tile.view<1xi32>, %a: !tile.view<64xf32>, %b: )" +
          view + ", %c: !tile.view<" + w + "xf32>, %y: !tile.view<" + w + R"(xf32>) {
  %c0 = arith.constant 0 : index
  %word = tile.load %n[%c0] : !tile.view<1xi32> -> i32
  %valid = arith.index_cast %word : i32 to index
  %x = tile.load %a[%c0] valid %valid : !tile.view<64xf32> -> tensor<64xf32>
  %m = tile.load %b[%c0, %c0] : )" +
          view + " -> tensor<64x" + w + R"(xf32>
  %s = tile.load %c[%c0] : !tile.view<)" +
          w + "xf32> -> " + tensor(width) + "\n" +
          (computed ? "%r = arith.addf %x, %x : tensor<64xf32>\n" : "") + "  %d = tile.dot (" +
          (computed ? "%r" : "%x") + ") by %m into (%s) valid %valid : tensor<64xf32>, tensor<64x" +
          w + "xf32>, " + tensor(width) + "\n  tile.store %d, %y[%c0] : " + tensor(width) +
          ", !tile.view<" + w + "xf32>\n  tile.return\n}");
      for (int valid : {-5, 0, 1, 3, 4, 5, 37, 63, 64, 65, 1000}) {
        int end = std::min(std::max(valid, 0), 64);
        std::vector<float> a = randomFloats(64, 3), b = randomFloats(64 * width, 4),
                           c = randomFloats(width, 5), y(width);
        std::fill(a.begin() + end, a.end(), NAN);
        std::fill(b.begin() + end * width, b.end(), NAN);
        int32_t n = valid;
        kernels.run("k", {&n, a.data(), b.data(), c.data(), y.data()}, 0, 1);
        if (computed)
          for (float &element : a)
            element += element;
        ASSERT_EQ(differences(y, dotBy(a.data(), b.data(), width, c, end)), 0u)
            << "valid " << valid << " computed " << computed;
      }
    }
}

/// Each row stops at its own count, and what lies beyond is NaN for the longest too. Seven rows are
/// more than one register block holds.
TEST(Dot, rows_end_at_counts_of_their_own) {
  constexpr int kRows = 7, kDepth = 64, kWidth = 40;
  std::string text = R"(
tile.kernel @k(%step: !tile.step, %n: !tile.view<7xi32>, %a: !tile.view<7x64xf32>, %b: !tile.view<64x40xf32>, %y: !tile.view<7x40xf32>) {
  %c0 = arith.constant 0 : index
  %m = tile.load %b[%c0, %c0] : !tile.view<64x40xf32> -> tensor<64x40xf32>
  %zero = arith.constant dense<0.0> : tensor<40xf32>
)";
  std::string rows, counts, zeros, stores;
  for (int r = 0; r < kRows; ++r) {
    std::string i = number(r), comma = r ? ", " : "";
    text += "  %i" + i + " = arith.constant " + i + " : index\n  %w" + i + " = tile.load %n[%i" + i +
            "] : !tile.view<7xi32> -> i32\n  %n" + i + " = arith.index_cast %w" + i +
            " : i32 to index\n  %a" + i + " = tile.load %a[%i" + i +
            ", %c0] : !tile.view<7x64xf32> -> tensor<64xf32>\n";
    rows += comma + "%a" + i, counts += comma + "%n" + i, zeros += comma + "%zero";
    stores += "  tile.store %d#" + i + ", %y[%i" + i +
              ", %c0] : tensor<40xf32>, !tile.view<7x40xf32>\n";
  }
  text += "  %d:7 = tile.dot (" + rows + ") by %m into (" + zeros + ") valid (" + counts +
          ") : tensor<64xf32>, tensor<64x40xf32>, tensor<40xf32>\n" + stores + "  tile.return\n}";
  for (const std::string &level : levelsHere()) {
    CompiledKernels kernels(text, level);
    for (std::vector<int32_t> ends : {std::vector<int32_t>{64, 64, 64, 64, 64, 64, 64},
                                      {1, 2, 3, 4, 5, 6, 7}, {-3, 0, 63, 9, 1000, 64, 17}}) {
      std::vector<float> a = randomFloats(kRows * kDepth, 3), b = randomFloats(kDepth * kWidth, 4),
                         y(kRows * kWidth);
      int longest = std::min(*std::max_element(ends.begin(), ends.end()), kDepth);
      std::fill(b.begin() + longest * kWidth, b.end(), NAN);
      std::fill(b.begin() + 8 * kWidth, b.begin() + 9 * kWidth, INFINITY); // 0 x it is NaN
      kernels.run("k", {ends.data(), a.data(), b.data(), y.data()}, 0, 1);
      for (int r = 0; r < kRows; ++r) {
        std::vector<float> expected =
            dotBy(&a[r * kDepth], b.data(), kWidth, std::vector<float>(kWidth, 0),
                  std::min(std::max(ends[r], 0), kDepth));
        std::vector<float> found(&y[r * kWidth], &y[r * kWidth] + kWidth);
        ASSERT_EQ(differences(found, expected), 0u) << level << " row " << r;
      }
    }
  }
}

TEST(Dot, transposed_sums_lanes_then_their_tree) {
  struct Case {
    int lines, depth, lanes, stride, rows;
  };
  for (Case c : {Case{64, 64, 8, 64, 1}, Case{64, 64, 8, 192, 3}, Case{64, 128, 16, 128, 2},
                 Case{64, 16, 4, 16, 1}, Case{64, 8, 8, 8, 1}, Case{5, 40, 8, 40, 2},
                 Case{12, 96, 32, 96, 1}, Case{64, 6, 2, 6, 1}, Case{3, 5, 1, 5, 1},
                 Case{64, 80, 16, 80, 1}}) {
    for (bool computed : {false, true}) {
      std::string x = "!tile.view<" + number(c.rows) + "x" + number(c.depth) + "xf32>";
      std::string w = "!tile.view<" + number(c.lines) + "x" + number(c.depth) +
                      "xf32, strides = [" + number(c.stride) + ", 1]>";
      std::string y = "!tile.view<" + number(c.rows) + "x" + number(c.lines) + "xf32>";
      std::string text =
          "tile.kernel @k(%step: !tile.step, %x: " + x + ", %w: " + w + ", %c: !tile.view<" +
          number(c.lines) + "xf32>, %y: " + y +
          ") {\n  %c0 = arith.constant 0 : index\n  %b = tile.load %w[%c0, %c0] : " + w +
          " -> tensor<" + number(c.lines) + "x" + number(c.depth) +
          "xf32>\n  %acc = tile.load %c[%c0] : !tile.view<" + number(c.lines) + "xf32> -> " +
          tensor(c.lines) + "\n";
      std::string rows, sums, results, stores;
      for (int m = 0; m < c.rows; ++m) {
        std::string i = number(m), comma = m ? ", " : "", row = (computed ? "%d" : "%a") + i;
        text += "  %r" + i + " = arith.constant " + i + " : index\n  %a" + i +
                " = tile.load %x[%r" + i + ", %c0] : " + x + " -> " + tensor(c.depth) + "\n";
        if (computed)
          text += "  %d" + i + " = arith.addf %a" + i + ", %a" + i + " : " + tensor(c.depth) + "\n";
        rows += comma + row, sums += comma + "%acc", results += comma + "%s" + i;
        stores +=
            "  tile.store %s" + i + ", %y[%r" + i + ", %c0] : " + tensor(c.lines) + ", " + y + "\n";
      }
      text += "  " + results + " = tile.dot (" + rows + ") by_transposed %b into (" + sums +
              ") {lanes = " + number(c.lanes) + " : i64} : " + tensor(c.depth) + ", tensor<" +
              number(c.lines) + "x" + number(c.depth) + "xf32>, " + tensor(c.lines) + "\n" +
              stores + "  tile.return\n}\n";
      CompiledKernels kernels(text);
      std::vector<float> a = randomFloats(c.rows * c.depth, 1),
                         b = randomFloats(c.lines * c.stride, 2), acc = randomFloats(c.lines, 3);
      std::vector<float> found(c.rows * c.lines), expected;
      kernels.run("k", {a.data(), b.data(), acc.data(), found.data()}, 0, 1);
      for (int m = 0; m < c.rows; ++m)
        for (int n = 0; n < c.lines; ++n) {
          std::vector<float> lanes(c.lanes);
          for (int k = 0; k < c.depth; ++k) {
            float element = a[m * c.depth + k] * (computed ? 2 : 1);
            lanes[k % c.lanes] = std::fma(element, b[n * c.stride + k], lanes[k % c.lanes]);
          }
          expected.push_back(acc[n] + halvingTree(lanes));
        }
      ASSERT_EQ(differences(found, expected), 0u)
          << "lines " << c.lines << " depth " << c.depth << " lanes " << c.lanes;
    }
  }
}

TEST(Reduce, halves_in_order) {
  for (int width : {1, 2, 8, 64, 256}) {
    std::string w = number(width), x = "!tile.view<" + w + "xf32>", z = "!tile.view<" + w + "xi32>",
                text = R"(
tile.kernel @k(%step: !tile.step, %x: )" +
                       x + ", %z: " + z + R"(, %f: !tile.view<3xf32>, %i: !tile.view<3xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tile.load %x[%c0] : )" +
                       x + " -> " + tensor(width) + "\n  %b = tile.load %z[%c0] : " + z +
                       " -> tensor<" + w + "xi32>\n";
    int place = 0;
    for (std::string kind : {"add", "max", "min"}) {
      std::string at = "[%c" + number(place++) + "]";
      text += "  %f" + kind + " = tile.reduce " + kind + " %a : " + tensor(width) +
              " -> f32\n  %i" + kind + " = tile.reduce " + kind + " %b : tensor<" + w +
              "xi32> -> i32\n  tile.store %f" + kind + ", %f" + at +
              " : f32, !tile.view<3xf32>\n  tile.store %i" + kind + ", %i" + at +
              " : i32, !tile.view<3xi32>\n";
    }
    CompiledKernels kernels(text + "  tile.return\n}\n");
    std::vector<float> a = randomFloats(width, 9), found(3);
    std::vector<int32_t> b(width), integers(3);
    int32_t sum = 0;
    for (int i = 0; i < width; ++i)
      sum += b[i] = int32_t(a[i] * 100000);
    kernels.run("k", {a.data(), b.data(), found.data(), integers.data()}, 0, 1);
    EXPECT_EQ(differences(found, {halvingTree(a), *std::max_element(a.begin(), a.end()),
                                  *std::min_element(a.begin(), a.end())}),
              0u);
    EXPECT_EQ(integers, (std::vector<int32_t>{sum, *std::max_element(b.begin(), b.end()),
                                              *std::min_element(b.begin(), b.end())}));
    a[width / 2] = NAN;
    kernels.run("k", {a.data(), b.data(), found.data(), integers.data()}, 0, 1);
    EXPECT_TRUE(std::isnan(found[0]) && std::isnan(found[1]) && std::isnan(found[2]))
        << "a NaN must not vanish";
  }
}
