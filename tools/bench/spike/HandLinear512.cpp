// SPDX-License-Identifier: Apache-2.0
//
// A panel's nibbles become bytes once for all rows; bytes are multiplied as they lie. Six rows by
// 32 columns are 12 chains of integers and 12 sums, which with two registers of weights and one of
// a row leave five.
#include "tools/bench/spike/HandLinear.h"
#include <immintrin.h>

namespace {

constexpr int kColumns = 32, kRowTile = 6,
              kLastTile = 4; // two last tiles where six leaves two rows

constexpr int kWords = 8; // of a group's bytes, for each column

/// Counted in words of 32 bits.
template <GroupKind Kind, int Groups> struct Layout {
  static constexpr bool kNibbles = Kind != GroupKind::Int8,
                        kMinimum = Kind == GroupKind::Int4Minimum;
  static constexpr int kBias = kMinimum ? 0 : kNibbles ? 8 : 128;
  static constexpr int kScales = kWords * Groups, kSums = kScales + Groups,
                       kProducts = kSums + Groups, kRow = kProducts + Groups;
  static constexpr int kCodes = (kNibbles ? kWords / 2 : kWords) * kColumns;
  static constexpr int kGroup = kCodes + kColumns / 2 * (kMinimum ? 2 : 1);
  /// Of an unpacked group; bytes keep their halves.
  static constexpr int kLine =
      kNibbles ? kWords * kColumns + kColumns * (kMinimum ? 2 : 1) : kGroup;
};

__m512 floatsOf(const int32_t *halves) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(halves)));
}

__m512 broadcastFloat(const int32_t *word) {
  return _mm512_set1_ps(*reinterpret_cast<const float *>(word));
}

template <typename L> void unpack(const int32_t *panel, int groups, int32_t *lines) {
  const __m512i nibble = _mm512_set1_epi8(15);
  for (int g = 0; g < groups; ++g, panel += L::kGroup, lines += L::kLine) {
    for (int at = 0; at < L::kCodes; at += 16) {
      const __m512i both = _mm512_loadu_si512(panel + at);
      _mm512_store_si512(lines + at, _mm512_and_si512(both, nibble));
      _mm512_store_si512(lines + L::kCodes + at,
                         _mm512_and_si512(_mm512_srli_epi32(both, 4), nibble));
    }
    for (int at = 0; at < (L::kMinimum ? 2 : 1) * kColumns; at += 16)
      _mm512_store_ps(lines + kWords * kColumns + at, floatsOf(panel + L::kCodes + at / 2));
  }
}

/// Columns [16 * half, 16 * half + 16): scales, or minimums.
template <typename L> __m512 factors(const int32_t *line, int half, bool minimums) {
  if (!L::kNibbles)
    return floatsOf(line + L::kCodes + 8 * half);
  return _mm512_load_ps(line + (kWords + (minimums ? 1 : 0)) * kColumns + 16 * half);
}

/// Not inlined: its addresses then need one register for rows and one for lines.
template <typename L, int Rows>
[[gnu::noinline]] void rowTile(const int32_t *rows, const int32_t *line, int groups, float *results,
                               int stride) {
  for (int m = 0; m < Rows;
       ++m) // rows of results lie pages apart: without this each store waits for its line
    for (int half = 0; half < 2; ++half)
      __builtin_prefetch(results + m * stride + 16 * half, 1);
  __m512 sums[Rows][2];
  for (auto &sum : sums)
    sum[0] = sum[1] = _mm512_setzero_ps();
  const int32_t *codes = rows,
                *lists = rows; // those of a group: scale, sum and product are a word each
  for (const int32_t *end = line + groups * L::kLine; line != end;
       line += L::kLine, codes += kWords, ++lists) {
    __m512i products[Rows][2];
    for (int m = 0; m < Rows; ++m)
      products[m][0] = products[m][1] =
          L::kBias ? _mm512_set1_epi32(-L::kBias * lists[m * L::kRow + L::kSums])
                   : _mm512_setzero_si512();
    for (int word = 0; word < kWords; ++word) {
      const __m512i low = _mm512_loadu_si512(line + word * kColumns),
                    high = _mm512_loadu_si512(line + word * kColumns + 16);
      for (int m = 0; m < Rows; ++m) {
        const __m512i row = _mm512_set1_epi32(codes[m * L::kRow + word]);
        products[m][0] = _mm512_dpbusd_epi32(products[m][0], low, row);
        products[m][1] = _mm512_dpbusd_epi32(products[m][1], high, row);
      }
    }
    for (int half = 0; half < 2; ++half) {
      const __m512 scales = factors<L>(line, half, false);
      for (int m = 0; m < Rows; ++m) {
        const __m512 both = _mm512_mul_ps(scales, broadcastFloat(lists + m * L::kRow + L::kScales));
        sums[m][half] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[m][half]), both, sums[m][half]);
        if (L::kMinimum)
          sums[m][half] =
              _mm512_fmadd_ps(factors<L>(line, half, true),
                              broadcastFloat(lists + m * L::kRow + L::kProducts), sums[m][half]);
      }
    }
  }
  for (int m = 0; m < Rows; ++m)
    for (int half = 0; half < 2; ++half)
      _mm512_storeu_ps(results + m * stride + 16 * half, sums[m][half]);
}

template <GroupKind Kind, int Depth> void linear(const HandLinear &work) {
  constexpr int kGroups = Depth / kColumns;
  using L = Layout<Kind, kGroups>;
  alignas(64) int32_t unpacked[L::kNibbles ? kGroups * L::kLine : 16];
  const int last = (kRowTile - work.count % kRowTile) % kRowTile / 2 * kLastTile,
            whole = work.count - last;
  for (int panel = 0; panel < work.outputs / kColumns; ++panel) {
    const int32_t *lines = work.weights + size_t(panel) * kGroups * L::kGroup;
    if (L::kNibbles) {
      unpack<L>(lines, kGroups, unpacked);
      lines = unpacked;
    }
    const auto over = [&](auto tile, int from, int to, int step) {
      for (int row = from; row < to; row += step)
        tile(work.rows + size_t(row) * L::kRow, lines, kGroups,
             work.results + size_t(row) * work.outputs + panel * kColumns, work.outputs);
    };
    over(rowTile<L, kRowTile>, 0, whole, kRowTile);
    over(rowTile<L, kLastTile>, whole, work.count, kLastTile);
  }
}

template <GroupKind Kind> HandLinearLoop ofDepth(int depth) {
  switch (depth) {
  case 576:
    return linear<Kind, 576>;
  case 896:
    return linear<Kind, 896>;
  case 1536:
    return linear<Kind, 1536>;
  case 4864:
    return linear<Kind, 4864>;
  default:
    return nullptr;
  }
}

} // namespace

HandLinearLoop handLinear(GroupKind kind, int depth) {
  switch (kind) {
  case GroupKind::Int4:
    return ofDepth<GroupKind::Int4>(depth);
  case GroupKind::Int4Minimum:
    return ofDepth<GroupKind::Int4Minimum>(depth);
  case GroupKind::Int8:
    return ofDepth<GroupKind::Int8>(depth);
  }
}
