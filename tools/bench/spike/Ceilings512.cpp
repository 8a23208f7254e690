// SPDX-License-Identifier: Apache-2.0
//
// The ceilings of a machine with vpdpbusd.
#include "tools/bench/spike/Ceilings.h"
#include <immintrin.h>

void byteProductRounds(int rounds) {
  __m512i sums[16];
  for (__m512i &sum : sums)
    sum = _mm512_setzero_si512();
  const __m512i x = _mm512_set1_epi8(3);
  __m512i w = x;
  for (int round = 0; round < rounds; ++round)
    for (__m512i &sum : sums) {
      asm volatile("" : "+v"(w));
      sum = _mm512_dpbusd_epi32(sum, w, x);
    }
  for (__m512i sum : sums)
    asm volatile("" : : "v"(sum));
}
