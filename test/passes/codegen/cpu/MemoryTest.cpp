// SPDX-License-Identifier: Apache-2.0
//
// Views, masks, the grid, the step descriptor and pages.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::cpu::test;

static constexpr float kUntouched = -77.0f;

/// y = a * a + a on rows of `width`, `tile` at a time with the last tile cut short.
static std::string rowsKernel(int width, int tile) {
  std::string v = "!tile.view<?x" + std::to_string(width) + "xf32>",
              t = "tensor<" + std::to_string(tile) + "xf32>";
  return "tile.kernel @k(%step: !tile.step, %x: " + v + ", %y: " + v +
         ") {\n"
         "  %r = tile.program_id line\n"
         "  %c0 = arith.constant 0 : index\n"
         "  %width = arith.constant " +
         std::to_string(width) +
         " : index\n"
         "  %tile = arith.constant " +
         std::to_string(tile) +
         " : index\n"
         "  scf.for %i = %c0 to %width step %tile {\n"
         "    %left = arith.subi %width, %i : index\n"
         "    %a = tile.load %x[%r, %i] valid %left : " +
         v + " -> " + t +
         "\n"
         "    %b = arith.mulf %a, %a : " +
         t +
         "\n"
         "    %c = arith.addf %b, %a : " +
         t +
         "\n"
         "    tile.store %c, %y[%r, %i] valid %left : " +
         t + ", " + v +
         "\n"
         "  }\n"
         "  tile.return\n"
         "}\n";
}

TEST(Memory, odd_widths_and_tiles) {
  for (int width : {1, 3, 8, 33, 100})
    for (int tile : {1, 3, 8, 13, 32}) {
      CompiledKernels kernels(rowsKernel(width, tile));
      std::vector<float> x = randomFloats(width * 4, width), y(width * 4 + 32, kUntouched);
      kernels.run("k", {x.data(), y.data()}, 1, 3); // rows 1 and 2 of 4
      for (int i = 0; i < width * 4 + 32; ++i) {
        bool written = i >= width && i < 3 * width;
        ASSERT_EQ(y[i], written ? x[i] * x[i] + x[i] : kUntouched)
            << "width " << width << " tile " << tile << " element " << i;
      }
    }
}

TEST(Memory, counts_below_zero_and_above_the_width_are_clamped) {
  CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %n: !tile.view<1xi32>, %x: !tile.view<16xf32>, %y: !tile.view<16xf32>, %z: !tile.view<16xf32>) {
  %c0 = arith.constant 0 : index
  %word = tile.load %n[%c0] : !tile.view<1xi32> -> i32
  %valid = arith.index_cast %word : i32 to index
  %a = tile.load %x[%c0] valid %valid : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %a, %y[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.store %a, %z[%c0] valid %valid : tensor<16xf32>, !tile.view<16xf32>
  tile.return
})");
  for (int valid : {-2000000000, -1, 0, 1, 7, 8, 15, 16, 17, 2000000000}) {
    std::vector<float> x = randomFloats(16, 5), y(16, kUntouched), z(16, kUntouched);
    int32_t n = valid;
    kernels.run("k", {&n, x.data(), y.data(), z.data()}, 0, 1);
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(y[i], i < valid ? x[i] : 0.0f) << valid;
      EXPECT_EQ(z[i], i < valid ? x[i] : kUntouched) << valid;
    }
  }
}

/// Column 3 of a 16 x 8 matrix, as keys are appended; nothing beside it is touched.
TEST(Memory, columns_are_stored_element_by_element) {
  for (const std::string &level : levelsHere()) {
    CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %n: !tile.view<1xi32>, %x: !tile.view<16xf32>, %y: !tile.view<8x16xf32, strides = [1, 8]>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %word = tile.load %n[%c0] : !tile.view<1xi32> -> i32
  %valid = arith.index_cast %word : i32 to index
  %a = tile.load %x[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %a, %y[%c3, %c0] valid %valid : tensor<16xf32>, !tile.view<8x16xf32, strides = [1, 8]>
  tile.return
})",
                            level);
    for (int32_t valid : {-1, 0, 5, 16, 100}) {
      std::vector<float> x = randomFloats(16, 5), y(16 * 8, kUntouched);
      kernels.run("k", {&valid, x.data(), y.data()}, 0, 1);
      for (int i = 0; i < 16; ++i)
        for (int c = 0; c < 8; ++c)
          EXPECT_EQ(y[i * 8 + c], c == 3 && i < valid ? x[i] : kUntouched) << level << ' ' << valid;
    }
  }
}

TEST(Memory, constant_counts) {
  for (int valid : {-3, 0, 5, 8, 9}) {
    CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %x: !tile.view<8xf32>, %y: !tile.view<8xf32>) {
  %c0 = arith.constant 0 : index
  %valid = arith.constant )" +
                            std::to_string(valid) + R"( : index
  %a = tile.load %x[%c0] valid %valid : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %a, %y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
})");
    std::vector<float> x = randomFloats(8, 5), y(8, kUntouched);
    kernels.run("k", {x.data(), y.data()}, 0, 1);
    for (int i = 0; i < 8; ++i)
      EXPECT_EQ(y[i], i < valid ? x[i] : 0.0f) << valid;
  }
}

TEST(Memory, programs_are_lines_times_inner) {
  CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %y: !tile.view<?x3x2xi32>) attributes {tile.inner = 3 : i64} {
  %r = tile.program_id line
  %h = tile.program_id inner
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %line = arith.index_cast %r : index to i32
  %inner = arith.index_cast %h : index to i32
  tile.store %line, %y[%r, %h, %c0] : i32, !tile.view<?x3x2xi32>
  tile.store %inner, %y[%r, %h, %c1] : i32, !tile.view<?x3x2xi32>
  tile.return
})");
  std::vector<int32_t> y(5 * 3 * 2, -1);
  kernels.run("k", {y.data()}, 2, 14);
  for (int p = 0; p < 15; ++p) {
    bool ran = p >= 2 && p < 14;
    EXPECT_EQ(y[2 * p], ran ? p / 3 : -1);
    EXPECT_EQ(y[2 * p + 1], ran ? p % 3 : -1);
  }
}

TEST(Memory, extents_and_arrays_of_the_step) {
  CompiledKernels kernels(R"(
tile.kernel @k(%step: !tile.step, %y: !tile.view<?x11xi32>) {
  %r = tile.program_id line
  %f0 = tile.step_read tokens %step[%r]
  %f1 = tile.step_read positions %step[%r]
  %f2 = tile.step_read slots %step[%r]
  %f3 = tile.step_read row_sequence %step[%r]
  %f4 = tile.step_read output_rows %step[%r]
  %f5 = tile.step_read sequence_row %step[%r]
  %f6 = tile.step_read sequence_base %step[%r]
  %f7 = tile.extent one %step
  %f8 = tile.extent rows %step
  %f9 = tile.extent outputs %step
  %f10 = tile.extent sequences %step
)" + [] {
    std::string stores;
    for (int i = 0; i < 11; ++i) {
      std::string n = std::to_string(i);
      stores += "%c" + n + " = arith.constant " + n + " : index\n%w" + n +
                " = arith.index_cast %f" + n + " : index to i32\n" + "tile.store %w" + n +
                ", %y[%r, %c" + n + "] : i32, !tile.view<?x11xi32>\n";
    }
    return stores;
  }() + "tile.return\n}");
  int32_t arrays[7][2] = {{1, -2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}, {13, 14}};
  llmc_step &step = kernels.step;
  step.n_rows = 21, step.n_outputs = 22, step.n_sequences = 23;
  step.tokens = arrays[0], step.positions = arrays[1], step.slots = arrays[2],
  step.row_sequence = arrays[3];
  step.output_rows = arrays[4], step.sequence_row = arrays[5], step.sequence_base = arrays[6];
  std::vector<int32_t> y(22, -1);
  kernels.run("k", {y.data()}, 0, 2);
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 7; ++i)
      EXPECT_EQ(y[r * 11 + i], arrays[i][r]);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(y[r * 11 + 7 + i], i == 0 ? 1 : 20 + i);
  }
}

/// Both layouts, pages of 1 and 3 chunks, two heads, keys wider than values; the address is known
/// by what lies there.
TEST(Memory, chunks_are_found_through_the_page_table) {
  for (bool tokenMajor : {false, true})
    for (uint32_t pageChunks : {1u, 3u}) {
      int heads = 2, key = 8, value = 4,
          block = heads * (key + value) * 64 + 16; // 16 floats of another cache
      std::string layout = tokenMajor ? "true" : "false";
      std::string kv = "!tile.kv<heads = 2, key = 8, value = 4, tokenMajor = " + layout +
                       ", block = " + std::to_string(block * 4) + ">";
      std::string k =
          tokenMajor ? "!tile.view<64x8xf32, strides = [16, 1]>" : "!tile.view<64x8xf32, strides = [1, 64]>";
      std::string v =
          tokenMajor ? "!tile.view<64x4xf32, strides = [8, 1]>" : "!tile.view<64x4xf32>";
      CompiledKernels kernels(
          "tile.kernel @k(%step: !tile.step, %q: !tile.view<?x4xi32>, %kv: " + kv +
          ", %a: !tile.view<?x8xf32>, %b: !tile.view<?x4xf32>) {\n"
          R"(
  %r = tile.program_id line
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %w0 = tile.load %q[%r, %c0] : !tile.view<?x4xi32> -> i32
  %w1 = tile.load %q[%r, %c1] : !tile.view<?x4xi32> -> i32
  %w2 = tile.load %q[%r, %c2] : !tile.view<?x4xi32> -> i32
  %w3 = tile.load %q[%r, %c3] : !tile.view<?x4xi32> -> i32
  %s = arith.index_cast %w0 : i32 to index
  %c = arith.index_cast %w1 : i32 to index
  %h = arith.index_cast %w2 : i32 to index
  %t = arith.index_cast %w3 : i32 to index
  %keys = tile.kv_chunk key %kv, %step[%s, %c, %h] : )" +
          kv + " -> " + k + R"(
  %values = tile.kv_chunk value %kv, %step[%s, %c, %h] : )" +
          kv + " -> " + v + R"(
  %c8 = arith.constant 8 : index
  scf.for %e = %c0 to %c8 step %c1 {
    %x = tile.load %keys[%t, %e] : )" +
          k + R"( -> f32
    tile.store %x, %a[%r, %e] : f32, !tile.view<?x8xf32>
  }
  %y = tile.load %values[%t, %c0] : )" +
          v + R"( -> tensor<4xf32>
  tile.store %y, %b[%r, %c0] : tensor<4xf32>, !tile.view<?x4xf32>
  tile.return
})");
      std::vector<uint32_t> pages = {5, 0, 7, 2, 6, 1, 3, 4};
      std::vector<int32_t> firstPage = {1, 4};
      kernels.step.n_sequences = 2, kernels.step.page_chunks = pageChunks;
      kernels.step.pages = pages.data(), kernels.step.sequence_page = firstPage.data();
      std::vector<float> cache(8 * pageChunks * block);
      for (size_t i = 0; i < cache.size(); ++i)
        cache[i] = float(i);
      std::vector<int32_t> queries;
      for (int s = 0; s < 2; ++s)
        for (int c = 0; c < 3; ++c)
          for (int h = 0; h < 2; ++h)
            for (int t : {0, 17, 63})
              queries.insert(queries.end(), {s, c, h, t});
      uint32_t count = uint32_t(queries.size() / 4);
      std::vector<float> a(count * 8), b(count * 4);
      kernels.run("k", {queries.data(), cache.data(), a.data(), b.data()}, 0, count);
      for (uint32_t i = 0; i < count; ++i) {
        int s = queries[4 * i], c = queries[4 * i + 1], h = queries[4 * i + 2],
            t = queries[4 * i + 3];
        size_t chunk = pages[firstPage[s] + c / pageChunks] * pageChunks + c % pageChunks;
        size_t keyAt =
            chunk * block + (tokenMajor ? t * heads * key + h * key : h * 64 * key + t);
        size_t valueAt = chunk * block + heads * 64 * key +
                         (tokenMajor ? t * heads * value + h * value : h * 64 * value + t * value);
        for (int e = 0; e < key; ++e)
          ASSERT_EQ(a[i * 8 + e], float(keyAt + (tokenMajor ? e : e * 64)))
              << "page chunks " << pageChunks << " token major " << tokenMajor;
        for (int e = 0; e < value; ++e)
          ASSERT_EQ(b[i * 4 + e], float(valueAt + e))
              << "page chunks " << pageChunks << " token major " << tokenMajor;
      }
    }
}
