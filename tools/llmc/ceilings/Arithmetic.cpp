// SPDX-License-Identifier: Apache-2.0
// Chains of multiply-adds in registers: enough of them that none waits for another's latency. The
// empty asm statements emit no instruction; they keep the compiler from knowing a value, and so
// from computing it once.
#include "llmc/abi.h"
#include "tools/llmc/ceilings/Loops.h"
#include <immintrin.h>

namespace llmc::ceilings {
namespace {

constexpr int kChains512 = 16, kChains256 = 12, kChains128 = 8, kByteChains = 8;

[[gnu::target("avx512f")]] void f32Rounds512(uint64_t rounds) {
  __m512 sums[kChains512], w = _mm512_set1_ps(1), x = w;
  for (__m512 &sum : sums)
    sum = _mm512_setzero_ps();
  for (uint64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+v"(w));
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(w, x, sum);
  }
  for (__m512 sum : sums)
    asm volatile("" : : "v"(sum));
}

[[gnu::target("avx2,fma")]] void f32Rounds256(uint64_t rounds) {
  __m256 sums[kChains256], w = _mm256_set1_ps(1), x = w;
  for (__m256 &sum : sums)
    sum = _mm256_setzero_ps();
  for (uint64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+x"(w));
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(w, x, sum);
  }
  for (__m256 sum : sums)
    asm volatile("" : : "x"(sum));
}

void f32Rounds128(uint64_t rounds) {
  __m128 sums[kChains128], w = _mm_set1_ps(1), x = w;
  for (__m128 &sum : sums)
    sum = _mm_setzero_ps();
  for (uint64_t round = 0; round < rounds; ++round)
    for (__m128 &sum : sums) {
      asm volatile("" : "+x"(w));
      sum = _mm_add_ps(sum, _mm_mul_ps(w, x));
    }
  for (__m128 sum : sums)
    asm volatile("" : : "x"(sum));
}

[[gnu::target("avx512f,avx512vnni")]] void int8Rounds512(uint64_t rounds) {
  __m512i sums[kChains512], w = _mm512_set1_epi8(3), x = w;
  for (__m512i &sum : sums)
    sum = _mm512_setzero_si512();
  for (uint64_t round = 0; round < rounds; ++round) {
    asm volatile("" : "+v"(w));
    for (__m512i &sum : sums)
      sum = _mm512_dpbusd_epi32(sum, w, x);
  }
  for (__m512i sum : sums)
    asm volatile("" : : "v"(sum));
}

[[gnu::target("avx2")]] void int8Rounds256(uint64_t rounds) {
  __m256i sums[kByteChains], w = _mm256_set1_epi8(3), x = w;
  const __m256i ones = _mm256_set1_epi16(1);
  for (__m256i &sum : sums)
    sum = _mm256_setzero_si256();
  for (uint64_t round = 0; round < rounds; ++round)
    for (__m256i &sum : sums) {
      asm volatile("" : "+x"(w));
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x), ones));
    }
  for (__m256i sum : sums)
    asm volatile("" : : "x"(sum));
}

// Without the instructions for bytes: their halves are widened before.
void int8Rounds128(uint64_t rounds) {
  __m128i sums[kByteChains], w = _mm_set1_epi16(3), x = w;
  for (__m128i &sum : sums)
    sum = _mm_setzero_si128();
  for (uint64_t round = 0; round < rounds; ++round)
    for (__m128i &sum : sums) {
      asm volatile("" : "+x"(w));
      sum = _mm_add_epi32(sum, _mm_madd_epi16(w, x));
    }
  for (__m128i sum : sums)
    asm volatile("" : : "x"(sum));
}

bool hasAll(uint64_t features, uint64_t needed) { return (features & needed) == needed; }

} // namespace

ArithmeticLoop f32Loop(uint64_t features) {
  if (features & LLMC_CPU_AVX512F)
    return {"vfmadd, 512 bits", kChains512 * 16 * 2, f32Rounds512};
  if (hasAll(features, LLMC_CPU_AVX2 | LLMC_CPU_FMA))
    return {"vfmadd, 256 bits", kChains256 * 8 * 2, f32Rounds256};
  return {"mulps and addps", kChains128 * 4 * 2, f32Rounds128};
}

ArithmeticLoop int8Loop(uint64_t features) {
  if (hasAll(features, LLMC_CPU_AVX512F | LLMC_CPU_AVX512VNNI))
    return {"vpdpbusd, 512 bits", kChains512 * 64 * 2, int8Rounds512};
  if (features & LLMC_CPU_AVX2)
    return {"vpmaddubsw, vpmaddwd and vpaddd, 256 bits", kByteChains * 32 * 2, int8Rounds256};
  return {"pmaddwd and paddd", kByteChains * 8 * 2, int8Rounds128};
}

} // namespace llmc::ceilings
