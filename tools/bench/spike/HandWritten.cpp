// SPDX-License-Identifier: Apache-2.0
//
// f32 with AVX2.
#include "tools/bench/spike/HandWritten.h"
#include <cmath>
#include <immintrin.h>
#include <initializer_list>

static float sumLanes(__m256 v) {
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

static void rmsNorm(const float *x, const float *weight, float *y, int width, uint32_t begin,
                    uint32_t end) {
  for (uint32_t row = begin; row < end; ++row) {
    const float *in = x + size_t(row) * width;
    float *out = y + size_t(row) * width;
    __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                      _mm256_setzero_ps()};
    for (int i = 0; i < width; i += 32)
      for (int j = 0; j < 4; ++j) {
        __m256 v = _mm256_loadu_ps(in + i + 8 * j);
        sums[j] = _mm256_fmadd_ps(v, v, sums[j]);
      }
    __m256 half0 = _mm256_add_ps(sums[0], sums[2]), half1 = _mm256_add_ps(sums[1], sums[3]);
    float sum = sumLanes(_mm256_add_ps(half0, half1));
    __m256 scale = _mm256_set1_ps(1.0f / std::sqrt(sum / float(width) + 1.0e-5f));
    for (int i = 0; i < width; i += 8)
      _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_mul_ps(_mm256_loadu_ps(in + i), scale),
                                              _mm256_loadu_ps(weight + i)));
  }
}

static void gemv(const float *x, const float *panels, float *y, int depth, uint32_t begin,
                 uint32_t end) {
  for (uint32_t panel = begin; panel < end; ++panel) {
    const float *b = panels + size_t(panel) * depth * 32;
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    for (int k = 0; k < depth; ++k, b += 32) {
      __m256 a = _mm256_broadcast_ss(x + k);
      s0 = _mm256_fmadd_ps(a, _mm256_loadu_ps(b), s0);
      s1 = _mm256_fmadd_ps(a, _mm256_loadu_ps(b + 8), s1);
      s2 = _mm256_fmadd_ps(a, _mm256_loadu_ps(b + 16), s2);
      s3 = _mm256_fmadd_ps(a, _mm256_loadu_ps(b + 24), s3);
    }
    float *out = y + size_t(panel) * 32;
    _mm256_storeu_ps(out, s0);
    _mm256_storeu_ps(out + 8, s1);
    _mm256_storeu_ps(out + 16, s2);
    _mm256_storeu_ps(out + 24, s3);
  }
}

/// exp for x <= 0: 2^n times a polynomial in the remainder (degree 5, error about 1 ulp).
static __m256 expNegative(__m256 x) {
  x = _mm256_max_ps(x, _mm256_set1_ps(-87.0f));
  __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                             _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256 p = _mm256_set1_ps(1.9875691e-4f);
  for (float c : {1.3981999e-3f, 8.3334519e-3f, 4.1665796e-2f, 1.6666665e-1f, 5.0000001e-1f})
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(c));
  p = _mm256_add_ps(_mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r), _mm256_set1_ps(1.0f));
  __m256i power =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(p, _mm256_castsi256_ps(power));
}

/// Sums of eight vectors, in order.
static __m256 sumEight(const __m256 *v) {
  __m256 a[4], b[2];
  for (int i = 0; i < 4; ++i)
    a[i] = _mm256_add_ps(_mm256_permute2f128_ps(v[i], v[i + 4], 0x20),
                         _mm256_permute2f128_ps(v[i], v[i + 4], 0x31));
  for (int i = 0; i < 2; ++i)
    b[i] = _mm256_add_ps(_mm256_shuffle_ps(a[i], a[i + 2], 0x44),
                         _mm256_shuffle_ps(a[i], a[i + 2], 0xee));
  __m256 c = _mm256_hadd_ps(b[0], b[1]);
  return _mm256_shuffle_ps(c, c, 0xd8);
}

static __m256 scoresOf(const __m256 *query, const float *keys) {
  __m256 sums[8];
  for (int t = 0; t < 8; ++t)
    sums[t] = _mm256_setzero_ps();
  for (int j = 0; j < 8; ++j)
    for (int t = 0; t < 8; ++t)
      sums[t] = _mm256_fmadd_ps(query[j], _mm256_loadu_ps(keys + t * 64 + j * 8), sums[t]);
  return sumEight(sums);
}

static void attention(const float *query, const float *keys, const float *values, float *y,
                      int tokens, int64_t chunkStride) {
  __m256 q[8], all[8];
  for (int j = 0; j < 8; ++j) {
    q[j] = _mm256_loadu_ps(query + 8 * j);
    all[j] = _mm256_setzero_ps();
  }
  float allMax = -1.0e30f, allSum = 0;
  const __m256i ramp = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (int first = 0; first < tokens; first += 64, keys += chunkStride, values += chunkStride) {
    int seen = tokens - first < 64 ? tokens - first : 64;
    alignas(32) float weights[64];
    __m256 scores[8], max = _mm256_set1_ps(-1.0e30f);
    for (int i = 0; i < 8; ++i) {
      __m256 mask = _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(seen - 8 * i), ramp));
      scores[i] = _mm256_mul_ps(scoresOf(q, keys + i * 8 * 64), _mm256_set1_ps(0.125f));
      scores[i] = _mm256_blendv_ps(_mm256_set1_ps(-1.0e30f), scores[i], mask);
      max = _mm256_max_ps(max, scores[i]);
    }
    max = _mm256_max_ps(max, _mm256_permute2f128_ps(max, max, 1));
    max = _mm256_max_ps(max, _mm256_shuffle_ps(max, max, 0x4e));
    max = _mm256_max_ps(max, _mm256_shuffle_ps(max, max, 0xb1));
    __m256 part[8];
    for (int i = 0; i < 8; ++i) {
      __m256 mask = _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(seen - 8 * i), ramp));
      part[i] = _mm256_and_ps(mask, expNegative(_mm256_sub_ps(scores[i], max)));
      _mm256_store_ps(weights + 8 * i, part[i]);
    }
    for (int half = 4; half > 0; half /= 2)
      for (int i = 0; i < half; ++i)
        part[i] = _mm256_add_ps(part[i], part[i + half]);
    float sum = sumLanes(part[0]), chunkMax = _mm256_cvtss_f32(max);
    __m256 out[8];
    for (int j = 0; j < 8; ++j)
      out[j] = _mm256_setzero_ps();
    for (int t = 0; t < seen; ++t) {
      __m256 w = _mm256_broadcast_ss(weights + t);
      for (int j = 0; j < 8; ++j)
        out[j] = _mm256_fmadd_ps(w, _mm256_loadu_ps(values + t * 64 + 8 * j), out[j]);
    }
    float both = allMax > chunkMax ? allMax : chunkMax;
    __m256 factors = expNegative(_mm256_setr_ps(allMax - both, chunkMax - both, 0, 0, 0, 0, 0, 0));
    float scaleAll = _mm256_cvtss_f32(factors),
          scaleChunk = _mm256_cvtss_f32(_mm256_permute_ps(factors, 1));
    allSum = allSum * scaleAll + sum * scaleChunk;
    for (int j = 0; j < 8; ++j)
      all[j] = _mm256_add_ps(_mm256_mul_ps(all[j], _mm256_set1_ps(scaleAll)),
                             _mm256_mul_ps(out[j], _mm256_set1_ps(scaleChunk)));
    allMax = both;
  }
  for (int j = 0; j < 8; ++j)
    _mm256_storeu_ps(y + 8 * j, _mm256_div_ps(all[j], _mm256_set1_ps(allSum)));
}

const HandWritten handWrittenAVX2 = {rmsNorm,     gemv, attention,   int4GemvAVX2, int8GemmAVX2,
                                     "int4_gemv", 1,    "int8_gemm", 2};
