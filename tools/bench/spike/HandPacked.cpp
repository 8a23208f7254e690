// SPDX-License-Identifier: Apache-2.0
//
// int4 and int8 weights in groups of 32, with AVX2.
#include "tools/bench/spike/HandWritten.h"
#include <immintrin.h>

static __m256i loadWords(const int32_t *words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(words));
}

/// sum += float(acc) * weight scale * activation scale
static __m256 scaled(__m256i acc, const int32_t *scales, __m256 activationScale, __m256 sum) {
  return _mm256_fmadd_ps(_mm256_cvtepi32_ps(acc),
                         _mm256_mul_ps(_mm256_castsi256_ps(loadWords(scales)), activationScale),
                         sum);
}

void int4GemvAVX2(const int32_t *x, const float *scales, const int32_t *bias,
                  const int32_t *weights, float *y, int groups, uint32_t begin, uint32_t end) {
  const __m256i nibbles = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  for (uint32_t panel = begin; panel < end; ++panel) {
    const int32_t *block = weights + size_t(panel) * groups * 160;
    __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                      _mm256_setzero_ps()};
    for (int g = 0; g < groups; ++g, block += 160) {
      __m256 scale = _mm256_set1_ps(scales[g]);
      __m256i pairs[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                          _mm256_setzero_si256()};
      for (int c = 0; c < 4; ++c) {
        __m256i low = _mm256_set1_epi32(x[g * 8 + c]), high = _mm256_set1_epi32(x[g * 8 + c + 4]);
        for (int j = 0; j < 4; ++j) { // eight pairs of products of nibbles fit into 16 bits
          __m256i w = loadWords(block + c * 32 + j * 8);
          pairs[j] =
              _mm256_add_epi16(pairs[j], _mm256_maddubs_epi16(_mm256_and_si256(w, nibbles), low));
          pairs[j] = _mm256_add_epi16(
              pairs[j],
              _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi32(w, 4), nibbles), high));
        }
      }
      for (int j = 0; j < 4; ++j) {
        __m256i acc =
            _mm256_add_epi32(_mm256_set1_epi32(bias[g]), _mm256_madd_epi16(pairs[j], ones));
        sums[j] = scaled(acc, block + 128 + j * 8, scale, sums[j]);
      }
    }
    for (int j = 0; j < 4; ++j)
      _mm256_storeu_ps(y + panel * 32 + j * 8, sums[j]);
  }
}

/// Two rows at a time; bytes of the weights as 16-bit halves, because products of bytes would
/// saturate.
void int8GemmAVX2(const int32_t *x, const float *scales, const int32_t *bias,
                  const int32_t *weights, float *y, int rows, int groups, uint32_t begin,
                  uint32_t end, uint32_t panels) {
  const __m256i even = _mm256_set1_epi16(255);
  for (uint32_t panel = begin; panel < end; ++panel)
    for (int row = 0; row < rows; row += 2) {
      const int32_t *block = weights + size_t(panel) * groups * 288;
      __m256 sums[2][4];
      for (int j = 0; j < 8; ++j)
        sums[j / 4][j % 4] = _mm256_setzero_ps();
      for (int g = 0; g < groups; ++g, block += 288) {
        __m256i acc[2][4];
        for (int m = 0; m < 2; ++m)
          for (int j = 0; j < 4; ++j)
            acc[m][j] = _mm256_set1_epi32(bias[(row + m) * groups + g]);
        for (int c = 0; c < 8; ++c) {
          __m256i evenX[2], oddX[2];
          for (int m = 0; m < 2; ++m) {
            __m256i v = _mm256_set1_epi32(x[((row + m) * groups + g) * 8 + c]);
            evenX[m] = _mm256_srai_epi16(_mm256_slli_epi16(v, 8), 8);
            oddX[m] = _mm256_srai_epi16(v, 8);
          }
          for (int j = 0; j < 4; ++j) {
            __m256i w = loadWords(block + c * 32 + j * 8), evenW = _mm256_and_si256(w, even),
                    oddW = _mm256_srli_epi16(w, 8);
            for (int m = 0; m < 2; ++m)
              acc[m][j] =
                  _mm256_add_epi32(_mm256_add_epi32(acc[m][j], _mm256_madd_epi16(evenW, evenX[m])),
                                   _mm256_madd_epi16(oddW, oddX[m]));
          }
        }
        for (int m = 0; m < 2; ++m)
          for (int j = 0; j < 4; ++j)
            sums[m][j] = scaled(acc[m][j], block + 256 + j * 8,
                                _mm256_set1_ps(scales[(row + m) * groups + g]), sums[m][j]);
      }
      for (int m = 0; m < 2; ++m)
        for (int j = 0; j < 4; ++j)
          _mm256_storeu_ps(y + (size_t(row + m) * panels + panel) * 32 + j * 8, sums[m][j]);
    }
}
