// SPDX-License-Identifier: Apache-2.0
//
// A panel is unpacked once for all rows, into parts of eight columns: six rows by one register of
// columns are 6 chains of integers and 6 sums. Products of nibbles are summed in pairs of 16 bits
// over a whole group, at most 8 * 2 * 15 * 127. Bytes are signed, and give their sign to the row.
#include "tools/bench/spike/HandLinear.h"
#include <immintrin.h>

namespace {

constexpr int kPart = 8, kParts = kColumns / kPart;

template <GroupKind Kind, int Depth> struct Lines : Layout<Kind, Depth> {
  using Base = Layout<Kind, Depth>;
  /// Of a group and a part: codes, of bytes their sizes too, then factors.
  static constexpr int kCodesOfLine = (Base::kNibbles ? 1 : 2) * kWords * kPart;
  static constexpr int kLine = kCodesOfLine + kPart * Base::kFactors;
  static constexpr int kPartOfPanel = Base::kGroups * kLine;
};

__m256i loadWords(const int32_t *words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(words));
}

void storeWords(int32_t *words, __m256i value) {
  _mm256_store_si256(reinterpret_cast<__m256i *>(words), value);
}

__m256 loadFloats(const int32_t *words) { return _mm256_castsi256_ps(loadWords(words)); }

__m256 broadcastFloat(const int32_t *word) {
  return _mm256_broadcast_ss(reinterpret_cast<const float *>(word));
}

template <typename L> void unpackGroup(const int32_t *group, int part, int32_t *line) {
  const __m256i nibble = _mm256_set1_epi8(15), sign = _mm256_set1_epi8(-128);
  for (int word = 0; word < L::kCodes / kColumns; ++word) {
    const __m256i stored = loadWords(group + word * kColumns + part * kPart);
    if (L::kNibbles) {
      storeWords(line + word * kPart, _mm256_and_si256(stored, nibble));
      storeWords(line + (kWords / 2 + word) * kPart,
                 _mm256_and_si256(_mm256_srli_epi32(stored, 4), nibble));
    } else {
      const __m256i code = _mm256_xor_si256(stored, sign);
      storeWords(line + 2 * word * kPart, code);
      storeWords(line + (2 * word + 1) * kPart, _mm256_abs_epi8(code));
    }
  }
  for (int factor = 0; factor < L::kFactors; ++factor) {
    const int32_t *halves = group + L::kCodes + (factor * kColumns + part * kPart) / 2;
    const __m256 floats =
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(halves)));
    storeWords(line + L::kCodesOfLine + factor * kPart, _mm256_castps_si256(floats));
  }
}

template <typename L> void unpack(const int32_t *panel, int32_t *lines) {
  for (int part = 0; part < kParts; ++part)
    for (int g = 0; g < L::kGroups; ++g, lines += L::kLine)
      unpackGroup<L>(panel + g * L::kGroup, part, lines);
}

/// Word by word: the compiler would go row by row, with all weights of a group in registers that
/// there are not.
template <int Rows> void keepOrder(__m256i (&products)[Rows]) {
  for (__m256i &sum : products)
    asm volatile("" : "+x"(sum));
}

/// The integers of a group: sums in pairs of 16 bits are widened at its end.
template <typename L, int Rows>
void addNibbles(const int32_t *codes, const int32_t *lists, const int32_t *line,
                __m256i (&products)[Rows]) {
  static_assert(L::kBias == 0 || L::kBias == 8);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int word = 0; word < kWords; ++word) {
    const __m256i weights = loadWords(line + word * kPart);
    for (int m = 0; m < Rows; ++m) {
      const __m256i pairs =
          _mm256_maddubs_epi16(weights, _mm256_set1_epi32(codes[m * L::kRow + word]));
      products[m] = word ? _mm256_add_epi16(products[m], pairs) : pairs;
    }
    keepOrder(products);
  }
  for (int m = 0; m < Rows; ++m) {
    products[m] = _mm256_madd_epi16(products[m], ones);
    if (L::kBias) { // shifted after the broadcast: one of a scalar comes over from the integer side
      __m256i sum = _mm256_set1_epi32(lists[m * L::kRow + L::kSums]);
      asm("" : "+x"(sum)); // or the compiler shifts before it
      products[m] = _mm256_sub_epi32(products[m], _mm256_slli_epi32(sum, 3));
    }
    products[m] = _mm256_add_epi32(products[m], _mm256_set1_epi32(kFloatBits));
  }
}

template <typename L, int Rows>
void addBytes(const int32_t *codes, const int32_t *line, __m256i (&products)[Rows]) {
  const __m256i ones = _mm256_set1_epi16(1);
#pragma clang loop unroll(full)
  for (int word = 0; word < kWords; ++word) {
    const __m256i signs = loadWords(line + 2 * word * kPart),
                  sizes = loadWords(line + (2 * word + 1) * kPart);
    for (int m = 0; m < Rows; ++m) {
      const __m256i row = _mm256_sign_epi8(_mm256_set1_epi32(codes[m * L::kRow + word]), signs);
      const __m256i fours = _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, row), ones);
      products[m] = _mm256_add_epi32(word ? products[m] : _mm256_set1_epi32(kFloatBits), fours);
    }
    keepOrder(products);
  }
}

template <typename L, int Rows> struct RowTile {
  [[gnu::noinline]] static void run(const int32_t *rows, const int32_t *line, float *results,
                                    int stride);
};

template <typename L, int Rows>
void RowTile<L, Rows>::run(const int32_t *rows, const int32_t *line, float *results, int stride) {
  // What does not fit into registers is then aligned too: across a page's end it costs a third.
  alignas(32) char aligned[32];
  asm volatile("" : : "r"(aligned));
  for (int m = 0; m < Rows; ++m) // as in HandLinear512.cpp
    __builtin_prefetch(results + m * stride, 1);
  __m256 sums[Rows];
  for (__m256 &sum : sums)
    sum = _mm256_setzero_ps();
  const int32_t *codes = rows, *lists = rows;
  for (const int32_t *end = line + L::kPartOfPanel; line != end;
       line += L::kLine, codes += kWords, ++lists) {
    __m256i products[Rows];
    if constexpr (L::kNibbles)
      addNibbles<L>(codes, lists, line, products);
    else
      addBytes<L>(codes, line, products);
    const int32_t *factors = line + L::kCodesOfLine;
    const __m256 scales = loadFloats(factors),
                 offset = _mm256_mul_ps(scales, _mm256_set1_ps(-kFloatOffset));
    for (int m = 0; m < Rows; ++m) {
      const __m256 product = _mm256_fmadd_ps(_mm256_castsi256_ps(products[m]), scales, offset);
      sums[m] =
          _mm256_fmadd_ps(product, broadcastFloat(lists + m * L::kRow + L::kScales), sums[m]);
      if (L::kMinimum)
        sums[m] = _mm256_fmadd_ps(loadFloats(factors + kPart),
                                  broadcastFloat(lists + m * L::kRow + L::kProducts), sums[m]);
    }
  }
  for (int m = 0; m < Rows; ++m)
    _mm256_storeu_ps(results + m * stride, sums[m]);
}

template <GroupKind Kind, int Depth> struct Loop {
  using L = Lines<Kind, Depth>;

  static void run(const HandLinear &work) {
    alignas(64) int32_t unpacked[kParts * L::kPartOfPanel];
    for (int column = 0; column < work.outputs; column += kColumns) {
      unpack<L>(work.weights + size_t(column) / kColumns * L::kGroups * L::kGroup, unpacked);
      for (int part = 0; part < kParts; ++part)
        overRows<L, RowTile>(work, unpacked + part * L::kPartOfPanel, column + part * kPart);
    }
  }
};

} // namespace

HandLinearLoop handLinearAVX2(GroupKind kind, int depth) { return loopOf<Loop>(kind, depth); }
