// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/optable/PackedLinear.h"
#include "test/e2e/optable/NormalisedError.h"
#include "test/e2e/optable/OpTable.h"
#include <cmath>

namespace llmc::test {
namespace {

constexpr int64_t kGroup = 32; // of K, that share a scale; rows of a panel too

/// Noise by place: the same on every machine.
uint32_t noise(uint32_t kind, int64_t row, int64_t column) {
  uint64_t state = (uint64_t(kind) << 56) ^ (uint64_t(row) << 28) ^ uint64_t(column);
  for (int i = 0; i < 3; ++i) {
    state = (state ^ (state >> 31)) * 0x9e3779b97f4a7c15u;
    state ^= state >> 29;
  }
  return uint32_t(state >> 32);
}

enum Kind { kRow, kWeight, kRowScale, kWeightScale };

int activation(const PackedLinear &linear, int64_t row, int64_t k) {
  return k < linear.k ? int(noise(kRow, row, k) % 256) - 128 : 0;
}

/// -2^(bits - 1) to 2^(bits - 1) - 1.
int weight(const PackedLinear &linear, int64_t n, int64_t k) {
  return int(noise(kWeight, n, k) % (1u << linear.bits)) - (1 << (linear.bits - 1));
}

float scale(Kind kind, int64_t row, int64_t group) {
  return 0.01f + 0.02f * float(noise(kind, row, group) % 1024) / 1024.0f;
}

/// Byte b of word c of a group holds k = 4c + b; with 4 bits the high half holds k = 4 (c + 4) + b.
uint32_t weightWord(const PackedLinear &linear, int64_t n, int64_t group, int64_t word) {
  uint32_t bias = 1u << (linear.bits - 1), packed = 0;
  for (int64_t b = 0; b < 4; ++b) {
    int64_t k = group * kGroup + 4 * word + b;
    uint32_t byte = uint32_t(weight(linear, n, k)) + bias;
    if (linear.bits == 4)
      byte |= (uint32_t(weight(linear, n, k + 16)) + bias) << 4;
    packed |= byte << (8 * b);
  }
  return packed;
}

constexpr const char *kHead = R"(
tile.kernel @linear(%step: !tile.step, %x: !tile.view<?x$Gx8xi32>, %xs: !tile.view<?x$Gxf32>,
                    %bias: !tile.view<?x$Gxi32>, %w: !tile.view<$Px$Gx$Lx32xi32>,
                    %y: !tile.view<?x$Nxf32>) attributes {tile.inner = $P : i64} {
  %r = tile.program_id line
  %p = tile.program_id inner
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %n = arith.constant $N : index
  %groups = arith.constant $G : index
  %nibbles = arith.constant dense<0x0f0f0f0f> : tensor<32xi32>
  %four = arith.constant dense<4> : tensor<32xi32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  %all = scf.for %g = %c0 to %groups step %c1 iter_args(%sum = %zero) -> (tensor<32xf32>) {
    %b = tile.load %bias[%r, %g] : !tile.view<?x$Gxi32> -> i32
    %start = tile.broadcast %b : i32 -> tensor<32xi32>
)";

constexpr const char *kInt4 = R"(
    %group = scf.for %c = %c0 to %c4 step %c1 iter_args(%a = %start) -> (tensor<32xi32>) {
      %words = tile.load %w[%p, %g, %c, %c0] : !tile.view<$Px$Gx$Lx32xi32> -> tensor<32xi32>
      %low = arith.andi %words, %nibbles : tensor<32xi32>
      %shifted = arith.shrui %words, %four : tensor<32xi32>
      %high = arith.andi %shifted, %nibbles : tensor<32xi32>
      %d = arith.addi %c, %c4 : index
      %x0 = tile.load %x[%r, %g, %c] : !tile.view<?x$Gx8xi32> -> i32
      %x1 = tile.load %x[%r, %g, %d] : !tile.view<?x$Gx8xi32> -> i32
      %v0 = tile.broadcast %x0 : i32 -> tensor<32xi32>
      %v1 = tile.broadcast %x1 : i32 -> tensor<32xi32>
      %a0 = tile.dot4 (%v0) by %low into (%a) {bits = 4 : i64} : tensor<32xi32>
      %a1 = tile.dot4 (%v1) by %high into (%a0) {bits = 4 : i64} : tensor<32xi32>
      scf.yield %a1 : tensor<32xi32>
    }
    %last = arith.constant 4 : index
)";

constexpr const char *kInt8 = R"(
    %group = scf.for %c = %c0 to %c8 step %c1 iter_args(%a = %start) -> (tensor<32xi32>) {
      %words = tile.load %w[%p, %g, %c, %c0] : !tile.view<$Px$Gx$Lx32xi32> -> tensor<32xi32>
      %x0 = tile.load %x[%r, %g, %c] : !tile.view<?x$Gx8xi32> -> i32
      %v0 = tile.broadcast %x0 : i32 -> tensor<32xi32>
      %a0 = tile.dot4 (%v0) by %words into (%a) : tensor<32xi32>
      scf.yield %a0 : tensor<32xi32>
    }
    %last = arith.constant 8 : index
)";

constexpr const char *kTail = R"(
    %f = arith.sitofp %group : tensor<32xi32> to tensor<32xf32>
    %sw = tile.load %w[%p, %g, %last, %c0] : !tile.view<$Px$Gx$Lx32xi32> -> tensor<32xi32>
    %sf = arith.bitcast %sw : tensor<32xi32> to tensor<32xf32>
    %sx = tile.load %xs[%r, %g] : !tile.view<?x$Gxf32> -> f32
    %sxs = tile.broadcast %sx : f32 -> tensor<32xf32>
    %s = arith.mulf %sf, %sxs : tensor<32xf32>
    %next = math.fma %f, %s, %sum : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  %first = arith.muli %p, %c32 : index
  %left = arith.subi %n, %first : index
  tile.store %all, %y[%r, %first] valid %left : tensor<32xf32>, !tile.view<?x$Nxf32>
  tile.return
}
)";

} // namespace

std::string PackedLinear::name() const {
  return "int" + std::to_string(bits) + "_" + std::to_string(rows) + "_" + std::to_string(n) + "_" +
         std::to_string(k);
}

std::string PackedLinear::source() const {
  std::string text = std::string(kHead) + (bits == 4 ? kInt4 : kInt8) + kTail;
  const std::pair<std::string, int64_t> words[] = {
      {"$G", groups()}, {"$P", panels()}, {"$L", bits + 1}, {"$N", n}};
  for (const auto &[word, value] : words)
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;)
      text.replace(at, word.size(), std::to_string(value));
  return text;
}

Buffers PackedLinear::buffers() const {
  Buffers made(5);
  auto &[x, rowScales, bias, weights, y] =
      *reinterpret_cast<std::vector<uint32_t>(*)[5]>(made.data());
  std::vector<float> scales;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t group = 0; group < groups(); ++group) {
      int sum = 0;
      for (int64_t word = 0; word < kGroup / 4; ++word) {
        uint32_t packed = 0;
        for (int64_t b = 0; b < 4; ++b) {
          int value = activation(*this, row, group * kGroup + 4 * word + b);
          packed |= uint32_t(uint8_t(value)) << (8 * b);
          sum += value;
        }
        x.push_back(packed);
      }
      bias.push_back(uint32_t(-(1 << (bits - 1)) * sum));
      scales.push_back(scale(kRowScale, row, group));
    }
  rowScales = asBits(scales);
  for (int64_t panel = 0; panel < panels(); ++panel)
    for (int64_t group = 0; group < groups(); ++group) {
      for (int64_t word = 0; word < bits; ++word)
        for (int64_t i = 0; i < kGroup; ++i)
          weights.push_back(weightWord(*this, panel * kGroup + i, group, word));
      for (int64_t i = 0; i < kGroup; ++i) {
        int64_t column = panel * kGroup + i;
        float value = column < n ? scale(kWeightScale, column, group) : NAN;
        weights.push_back(asBits({value}).front());
      }
    }
  y.assign(size_t(rows * n) + kGuard, kNaN);
  return made;
}

std::vector<double> PackedLinear::expected() const {
  std::vector<double> result;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += double(activation(*this, row, i)) * double(scale(kRowScale, row, i / kGroup)) *
               double(weight(*this, column, i)) * double(scale(kWeightScale, column, i / kGroup));
      result.push_back(sum);
    }
  return result;
}

std::string findingIn(const PackedLinear &linear, const Buffers &written, double *error) {
  std::vector<double> expected = linear.expected();
  std::vector<float> found = asFloats(written.back());
  double difference = normalisedError(found.data(), expected);
  if (error)
    *error = difference;
  if (!(difference <= OpCase().bound))
    return "found an error of " + std::to_string(difference);
  for (size_t i = expected.size(); i < found.size(); ++i)
    if (written.back()[i] != kNaN)
      return "wrote element " + std::to_string(i) + ", expected " + std::to_string(expected.size());
  Buffers before = linear.buffers();
  for (size_t i = 0; i + 1 < before.size(); ++i)
    if (written[i] != before[i])
      return "wrote to parameter " + std::to_string(i) + ", which is only read";
  return "";
}

} // namespace llmc::test
