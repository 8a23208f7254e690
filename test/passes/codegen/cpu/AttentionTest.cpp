// SPDX-License-Identifier: Apache-2.0
//
// Online softmax over the pages of a cache, one row and head a program, against a two-pass softmax
// in double. Keys of a head-major cache are columns.
#include "test/passes/codegen/cpu/KernelHarness.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc::cpu::test;

namespace {
struct Shape {
  int heads, key, value;
  bool tokenMajor;

  int block() const { return heads * (key + value) * 64; }
  size_t keyAt(size_t chunk, int head, int token, int element) const {
    return chunk * block() + (tokenMajor ? token * heads * key + head * key + element
                                         : head * 64 * key + element * 64 + token);
  }
  size_t valueAt(size_t chunk, int head, int token) const {
    return chunk * block() + heads * 64 * key +
           (tokenMajor ? token * heads * value + head * value : head * 64 * value + token * value);
  }
};
} // namespace

static std::string replaced(std::string text,
                            std::initializer_list<std::pair<std::string, std::string>> words) {
  for (auto &[from, to] : words)
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  return text;
}

static std::string attentionKernel(const Shape &shape) {
  auto strided = [&](int width) {
    return "!tile.view<64x" + std::to_string(width) + "xf32" +
           (shape.tokenMajor ? ", strides = [" + std::to_string(shape.heads * width) + ", 1]>"
                             : ">");
  };
  return replaced(R"(
tile.kernel @k(%step: !tile.step, %q: !tile.view<?xHEADSxKEYxf32>, %kv: CACHE, %y: !tile.view<?xHEADSxVALUExf32>) attributes {tile.inner = HEADS : i64} {
  %r = tile.program_id line
  %h = tile.program_id inner
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %s = tile.step_read row_sequence %step[%r]
  %position = tile.step_read positions %step[%r]
  %last = arith.divui %position, %c64 : index
  %chunks = arith.addi %last, %c1 : index
  %query = tile.load %q[%r, %h, %c0] : !tile.view<?xHEADSxKEYxf32> -> tensor<KEYxf32>
  %empty = arith.constant -1.0e30 : f32
  %none = arith.constant dense<-1.0e30> : tensor<64xf32>
  %nothing = arith.constant dense<0.0> : tensor<64xf32>
  %scale = arith.constant dense<0.5> : tensor<64xf32>
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<VALUExf32>
  %all:3 = scf.for %c = %c0 to %chunks step %c1 iter_args(%m = %empty, %l = %zero, %o = %zeros) -> (f32, f32, tensor<VALUExf32>) {
    %keys = tile.kv_chunk key %kv, %step[%s, %c, %h] : CACHE -> KEYS
    %values = tile.kv_chunk value %kv, %step[%s, %c, %h] : CACHE -> VALUES
    %k = tile.load %keys[%c0, %c0] : KEYS -> tensor<SHAPExf32>
    %v = tile.load %values[%c0, %c0] : VALUES -> tensor<64xVALUExf32>
    %dots = tile.dot (%query) BY %k into (%nothing) : tensor<KEYxf32>, tensor<SHAPExf32>, tensor<64xf32>
    %scaled = arith.mulf %dots, %scale : tensor<64xf32>
    %first = arith.muli %c, %c64 : index
    %ahead = arith.subi %position, %first : index
    %seen = arith.addi %ahead, %c1 : index
    %bound = arith.index_cast %seen : index to i32
    %bounds = tile.broadcast %bound : i32 -> tensor<64xi32>
    %tokens = tile.iota : tensor<64xi32>
    %mask = arith.cmpi slt, %tokens, %bounds : tensor<64xi32>
    %scores = arith.select %mask, %scaled, %none : tensor<64xi1>, tensor<64xf32>
    %max = tile.reduce max %scores : tensor<64xf32> -> f32
    %maxes = tile.broadcast %max : f32 -> tensor<64xf32>
    %less = arith.subf %scores, %maxes : tensor<64xf32>
    %raised = math.exp %less : tensor<64xf32>
    %weights = arith.select %mask, %raised, %nothing : tensor<64xi1>, tensor<64xf32>
    %sum = tile.reduce add %weights : tensor<64xf32> -> f32
    %out = tile.dot (%weights) by %v into (%zeros) valid %seen : tensor<64xf32>, tensor<64xVALUExf32>, tensor<VALUExf32>
    %both = arith.maximumf %m, %max : f32
    %d0 = arith.subf %m, %both : f32
    %d1 = arith.subf %max, %both : f32
    %e0 = math.exp %d0 : f32
    %e1 = math.exp %d1 : f32
    %l0 = arith.mulf %l, %e0 : f32
    %l1 = arith.mulf %sum, %e1 : f32
    %l2 = arith.addf %l0, %l1 : f32
    %t0 = tile.broadcast %e0 : f32 -> tensor<VALUExf32>
    %t1 = tile.broadcast %e1 : f32 -> tensor<VALUExf32>
    %o0 = arith.mulf %o, %t0 : tensor<VALUExf32>
    %o1 = arith.mulf %out, %t1 : tensor<VALUExf32>
    %o2 = arith.addf %o0, %o1 : tensor<VALUExf32>
    scf.yield %both, %l2, %o2 : f32, f32, tensor<VALUExf32>
  }
  %sums = tile.broadcast %all#1 : f32 -> tensor<VALUExf32>
  %result = arith.divf %all#2, %sums : tensor<VALUExf32>
  tile.store %result, %y[%r, %h, %c0] : tensor<VALUExf32>, !tile.view<?xHEADSxVALUExf32>
  tile.return
})",
                  {{"CACHE", "!tile.kv<heads = HEADS, key = KEY, value = VALUE, tokenMajor = " +
                                 std::string(shape.tokenMajor ? "true" : "false") +
                                 ", block = " + std::to_string(shape.block() * 4) + ">"},
                   {"KEYS", shape.tokenMajor ? strided(shape.key) : "!tile.view<KEYx64xf32>"},
                   {"SHAPE", shape.tokenMajor ? "64xKEY" : "KEYx64"},
                   {"BY", shape.tokenMajor ? "by_transposed" : "by"},
                   {"VALUES", strided(shape.value)},
                   {"HEADS", std::to_string(shape.heads)},
                   {"KEY", std::to_string(shape.key)},
                   {"VALUE", std::to_string(shape.value)}});
}

/// softmax(q . K / 2) V in double, for one row and head.
static std::vector<double> exactAttention(const Shape &shape, const float *query,
                                          const std::vector<float> &cache,
                                          const std::vector<size_t> &chunks, int head,
                                          int position) {
  std::vector<double> scores, result(shape.value);
  for (int t = 0; t <= position; ++t) {
    double score = 0;
    for (int e = 0; e < shape.key; ++e)
      score += double(query[e]) * cache[shape.keyAt(chunks[t / 64], head, t % 64, e)];
    scores.push_back(score * 0.5);
  }
  double max = *std::max_element(scores.begin(), scores.end()), sum = 0;
  for (int t = 0; t <= position; ++t) {
    double weight = std::exp(scores[t] - max);
    sum += weight;
    for (int e = 0; e < shape.value; ++e)
      result[e] += weight * cache[shape.valueAt(chunks[t / 64], head, t % 64) + e];
  }
  for (double &element : result)
    element /= sum;
  return result;
}

/// Tokens beyond a row's position are NaN: neither their keys nor their values may leave a trace.
TEST(Attention, several_chunks_equal_one_softmax_and_junk_is_not_seen) {
  std::vector<float> otherLayout;
  for (Shape shape : {Shape{3, 64, 64, false}, Shape{3, 64, 64, true}, Shape{1, 24, 40, false},
                      Shape{2, 96, 8, true}}) {
    CompiledKernels kernels(attentionKernel(shape));
    for (uint32_t pageChunks : {1u, 3u}) {
      std::vector<uint32_t> pages = {5, 0, 7, 2, 6, 1, 3, 4};
      std::vector<int32_t> positions = {0, 1, 63, 64, 130, 191, 200}, rowSequence, firstPage;
      // Every row has a sequence of its own over the same tokens, with NaN beyond its position: run
      // it row by row.
      std::vector<size_t> chunks;
      for (uint32_t c = 0; c < 4; ++c)
        chunks.push_back(pages[1 + c / pageChunks] * pageChunks + c % pageChunks);
      std::vector<float> keys = randomFloats(256 * shape.heads * shape.key, 3),
                         values = randomFloats(256 * shape.heads * shape.value, 4);
      std::vector<float> query = randomFloats(positions.size() * shape.heads * shape.key, 5);
      std::vector<float> y(positions.size() * shape.heads * shape.value);
      for (size_t r = 0; r < positions.size(); ++r) {
        std::vector<float> cache(8 * pageChunks * shape.block(), NAN);
        for (int t = 0; t <= positions[r]; ++t)
          for (int h = 0; h < shape.heads; ++h) {
            for (int e = 0; e < shape.key; ++e)
              cache[shape.keyAt(chunks[t / 64], h, t % 64, e)] =
                  4 * keys[(t * shape.heads + h) * shape.key + e];
            for (int e = 0; e < shape.value; ++e)
              cache[shape.valueAt(chunks[t / 64], h, t % 64) + e] =
                  values[(t * shape.heads + h) * shape.value + e];
          }
        rowSequence.assign(positions.size(), 1), firstPage = {99, 1};
        kernels.step.n_rows = uint32_t(positions.size()), kernels.step.n_sequences = 2,
        kernels.step.page_chunks = pageChunks;
        kernels.step.positions = positions.data(), kernels.step.row_sequence = rowSequence.data();
        kernels.step.pages = pages.data(), kernels.step.sequence_page = firstPage.data();
        uint32_t first = uint32_t(r) * shape.heads;
        kernels.run("k", {query.data(), cache.data(), y.data()}, first, first + shape.heads);
        for (int h = 0; h < shape.heads; ++h) {
          std::vector<double> exact = exactAttention(
              shape, &query[(r * shape.heads + h) * shape.key], cache, chunks, h, positions[r]);
          for (int e = 0; e < shape.value; ++e)
            ASSERT_NEAR(y[(r * shape.heads + h) * shape.value + e], exact[e],
                        5e-6) // a score is one chain of up to 96 roundings
                << "position " << positions[r] << " head " << h;
        }
      }
      // Layout and page size change where tokens lie, not what is computed.
      if (shape.heads == 3) {
        if (otherLayout.empty())
          otherLayout = y;
        EXPECT_EQ(differences(y, otherLayout), 0u)
            << "page chunks " << pageChunks << " token major " << shape.tokenMajor;
      }
    }
  }
}
