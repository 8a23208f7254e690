// SPDX-License-Identifier: Apache-2.0
//
// Loops that do nothing but multiply. The empty asm statements emit no
// instruction; they keep the compiler from knowing a value, and so from computing it once.
#include "tools/bench/spike/Ceilings.h"
#include <cstdint>
#include <immintrin.h>

static void keep(__m256i value) { asm volatile("" : : "x"(value)); }

void multiplyAddRounds(int rounds) {
  __m256i sums[8];
  for (__m256i &sum : sums)
    sum = _mm256_setzero_si256();
  const __m256i x = _mm256_set1_epi16(3);
  __m256i w = x;
  for (int round = 0; round < rounds; ++round)
    for (int half = 0; half < 2; ++half)
      for (__m256i &sum : sums) {
        asm volatile("" : "+x"(w));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(w, x));
      }
  for (__m256i sum : sums)
    keep(sum);
}

void splitMultiplyAddRounds(int rounds) {
  __m256i sums[2][4];
  for (int j = 0; j < 8; ++j)
    sums[j / 4][j % 4] = _mm256_setzero_si256();
  const __m256i even = _mm256_set1_epi16(255);
  const int32_t bytes[34] = {}, *line = bytes;
  for (int round = 0; round < rounds; ++round) {
    asm volatile("" : "+r"(line) : "m"(bytes)); // read anew in each round
    __m256i evenX[2], oddX[2];
    for (int m = 0; m < 2; ++m) {
      __m256i x = _mm256_set1_epi32(line[32 + m]);
      evenX[m] = _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8);
      oddX[m] = _mm256_srai_epi16(x, 8);
    }
    for (int j = 0; j < 4; ++j) {
      __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(line) + j),
              evenW = _mm256_and_si256(w, even), oddW = _mm256_srli_epi16(w, 8);
      for (int m = 0; m < 2; ++m)
        sums[m][j] =
            _mm256_add_epi32(_mm256_add_epi32(sums[m][j], _mm256_madd_epi16(evenW, evenX[m])),
                             _mm256_madd_epi16(oddW, oddX[m]));
    }
  }
  for (int j = 0; j < 8; ++j)
    keep(sums[j / 4][j % 4]);
}
