// SPDX-License-Identifier: Apache-2.0
//
// A panel's nibbles become bytes once for all rows; bytes are multiplied as they lie. Six rows by
// 32 columns are 12 chains of integers and 12 sums, which with two registers of weights and one of
// a row leave five.
#include "tools/bench/spike/HandLinear.h"
#include <immintrin.h>

namespace {

template <GroupKind Kind, int Depth> struct Lines : Layout<Kind, Depth> {
  using Base = Layout<Kind, Depth>;
  /// Of an unpacked group; bytes keep their halves.
  static constexpr int kLine =
      Base::kNibbles ? kWords * kColumns + kColumns * Base::kFactors : Base::kGroup;
};

__m512 floatsOf(const int32_t *halves) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(halves)));
}

__m512 broadcastFloat(const int32_t *word) {
  return _mm512_set1_ps(*reinterpret_cast<const float *>(word));
}

template <typename L> void unpack(const int32_t *panel, int32_t *lines) {
  const __m512i nibble = _mm512_set1_epi8(15);
  for (int g = 0; g < L::kGroups; ++g, panel += L::kGroup, lines += L::kLine) {
    for (int at = 0; at < L::kCodes; at += 16) {
      const __m512i both = _mm512_loadu_si512(panel + at);
      _mm512_store_si512(lines + at, _mm512_and_si512(both, nibble));
      _mm512_store_si512(lines + L::kCodes + at,
                         _mm512_and_si512(_mm512_srli_epi32(both, 4), nibble));
    }
    for (int at = 0; at < L::kFactors * kColumns; at += 16)
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
template <typename L, int Rows> struct RowTile {
  [[gnu::noinline]] static void run(const int32_t *rows, const int32_t *line, float *results,
                                    int stride);
};

template <typename L, int Rows>
void RowTile<L, Rows>::run(const int32_t *rows, const int32_t *line, float *results, int stride) {
  // Rows of results lie pages apart: without this each store waits for its line.
  for (int m = 0; m < Rows; ++m)
    for (int half = 0; half < 2; ++half)
      __builtin_prefetch(results + m * stride + 16 * half, 1);
  __m512 sums[Rows][2];
  for (auto &sum : sums)
    sum[0] = sum[1] = _mm512_setzero_ps();
  const int32_t *codes = rows, *lists = rows; // of a group: scale, sum and product, a word each
  for (const int32_t *end = line + L::kGroups * L::kLine; line != end;
       line += L::kLine, codes += kWords, ++lists) {
    __m512i products[Rows][2];
    for (int m = 0; m < Rows; ++m)
      products[m][0] = products[m][1] =
          _mm512_set1_epi32(kFloatBits - L::kBias * lists[m * L::kRow + L::kSums]);
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
      const __m512 offset = _mm512_mul_ps(scales, _mm512_set1_ps(-kFloatOffset));
      for (int m = 0; m < Rows; ++m) {
        const __m512 product =
            _mm512_fmadd_ps(_mm512_castsi512_ps(products[m][half]), scales, offset);
        sums[m][half] = _mm512_fmadd_ps(
            product, broadcastFloat(lists + m * L::kRow + L::kScales), sums[m][half]);
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

template <GroupKind Kind, int Depth> struct Loop {
  using L = Lines<Kind, Depth>;

  static void run(const HandLinear &work) {
    alignas(64) int32_t unpacked[L::kNibbles ? L::kGroups * L::kLine : 16];
    for (int column = 0; column < work.outputs; column += kColumns) {
      const int32_t *panel = work.weights + size_t(column) / kColumns * L::kGroups * L::kGroup;
      if (L::kNibbles)
        unpack<L>(panel, unpacked);
      overRows<L, RowTile>(work, L::kNibbles ? unpacked : panel, column);
    }
  }
};

} // namespace

HandLinearLoop handLinear512(GroupKind kind, int depth) { return loopOf<Loop>(kind, depth); }
