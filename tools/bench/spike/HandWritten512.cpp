// SPDX-License-Identifier: Apache-2.0
//
// The same with AVX-512, and vpdpbusd for packed weights. Lanes are those of the tile programs, so
// scores stay eight lanes wide.
#include "tools/bench/spike/HandWritten.h"
#include <cmath>
#include <immintrin.h>
#include <initializer_list>

namespace {

float sumLanes(__m256 v) {
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

float sumLanes(__m512 v) {
  return sumLanes(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
}

void rmsNorm(const float *x, const float *weight, float *y, int width, uint32_t begin,
             uint32_t end) {
  for (uint32_t row = begin; row < end; ++row) {
    const float *in = x + size_t(row) * width;
    float *out = y + size_t(row) * width;
    __m512 low = _mm512_setzero_ps(), high = low;
    for (int i = 0; i < width; i += 32) {
      __m512 a = _mm512_loadu_ps(in + i), b = _mm512_loadu_ps(in + i + 16);
      low = _mm512_fmadd_ps(a, a, low);
      high = _mm512_fmadd_ps(b, b, high);
    }
    float sum = sumLanes(_mm512_add_ps(low, high));
    __m512 scale = _mm512_set1_ps(1.0f / std::sqrt(sum / float(width) + 1.0e-5f));
    for (int i = 0; i < width; i += 16)
      _mm512_storeu_ps(out + i, _mm512_mul_ps(_mm512_mul_ps(_mm512_loadu_ps(in + i), scale),
                                              _mm512_loadu_ps(weight + i)));
  }
}

void gemv(const float *x, const float *panels, float *y, int depth, uint32_t begin, uint32_t end) {
  for (uint32_t panel = begin; panel < end; ++panel) {
    const float *b = panels + size_t(panel) * depth * 32;
    __m512 s0 = _mm512_setzero_ps(), s1 = s0;
    for (int k = 0; k < depth; ++k, b += 32) {
      __m512 a = _mm512_set1_ps(x[k]);
      s0 = _mm512_fmadd_ps(a, _mm512_loadu_ps(b), s0);
      s1 = _mm512_fmadd_ps(a, _mm512_loadu_ps(b + 16), s1);
    }
    _mm512_storeu_ps(y + size_t(panel) * 32, s0);
    _mm512_storeu_ps(y + size_t(panel) * 32 + 16, s1);
  }
}

/// exp for x <= 0: 2^n times a polynomial in the remainder (degree 5, error about 1 ulp).
__m512 expNegative(__m512 x) {
  x = _mm512_max_ps(x, _mm512_set1_ps(-87.0f));
  __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)),
                                  _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(1.9875691e-4f);
  for (float c : {1.3981999e-3f, 8.3334519e-3f, 4.1665796e-2f, 1.6666665e-1f, 5.0000001e-1f})
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
  p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
  __m512i power =
      _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23);
  return _mm512_mul_ps(p, _mm512_castsi512_ps(power));
}

/// Sums of eight vectors, in order.
__m256 sumEight(const __m256 *v) {
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

__m256 scoresOf(const __m256 *query, const float *keys) {
  __m256 sums[8];
  for (int t = 0; t < 8; ++t)
    sums[t] = _mm256_setzero_ps();
  for (int j = 0; j < 8; ++j)
    for (int t = 0; t < 8; ++t)
      sums[t] = _mm256_fmadd_ps(query[j], _mm256_loadu_ps(keys + t * 64 + j * 8), sums[t]);
  return sumEight(sums);
}

void attention(const float *query, const float *keys, const float *values, float *y, int tokens,
               int64_t chunkStride) {
  __m256 q[8];
  __m512 all[4];
  for (int j = 0; j < 8; ++j)
    q[j] = _mm256_loadu_ps(query + 8 * j);
  for (__m512 &sum : all)
    sum = _mm512_setzero_ps();
  float allMax = -1.0e30f, allSum = 0;
  for (int first = 0; first < tokens; first += 64, keys += chunkStride, values += chunkStride) {
    int seen = tokens - first < 64 ? tokens - first : 64;
    uint64_t mask = seen == 64 ? ~uint64_t(0) : (uint64_t(1) << seen) - 1;
    alignas(64) float weights[64];
    __m512 scores[4], max = _mm512_set1_ps(-1.0e30f), part[4], out[4];
    for (int i = 0; i < 4; ++i) {
      __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(scoresOf(q, keys + i * 16 * 64)),
                                       scoresOf(q, keys + (i * 16 + 8) * 64), 1);
      scores[i] = _mm512_mask_mul_ps(_mm512_set1_ps(-1.0e30f), __mmask16(mask >> (16 * i)), both,
                                     _mm512_set1_ps(0.125f));
      max = _mm512_max_ps(max, scores[i]);
    }
    float chunkMax = _mm512_reduce_max_ps(max);
    for (int i = 0; i < 4; ++i) {
      __m512 weight = expNegative(_mm512_sub_ps(scores[i], _mm512_set1_ps(chunkMax)));
      part[i] = _mm512_maskz_mov_ps(__mmask16(mask >> (16 * i)), weight);
      _mm512_store_ps(weights + 16 * i, part[i]);
      out[i] = _mm512_setzero_ps();
    }
    float sum = sumLanes(
        _mm512_add_ps(_mm512_add_ps(part[0], part[2]), _mm512_add_ps(part[1], part[3])));
    for (int t = 0; t < seen; ++t) {
      __m512 w = _mm512_set1_ps(weights[t]);
      for (int j = 0; j < 4; ++j)
        out[j] = _mm512_fmadd_ps(w, _mm512_loadu_ps(values + t * 64 + 16 * j), out[j]);
    }
    float both = allMax > chunkMax ? allMax : chunkMax;
    __m512 factors = expNegative(
        _mm512_mask_mov_ps(_mm512_set1_ps(chunkMax - both), 1, _mm512_set1_ps(allMax - both)));
    float scaleAll = _mm512_cvtss_f32(factors),
          scaleChunk = _mm512_cvtss_f32(_mm512_permute_ps(factors, 1));
    allSum = allSum * scaleAll + sum * scaleChunk;
    for (int j = 0; j < 4; ++j)
      all[j] = _mm512_add_ps(_mm512_mul_ps(all[j], _mm512_set1_ps(scaleAll)),
                             _mm512_mul_ps(out[j], _mm512_set1_ps(scaleChunk)));
    allMax = both;
  }
  for (int j = 0; j < 4; ++j)
    _mm512_storeu_ps(y + 16 * j, _mm512_div_ps(all[j], _mm512_set1_ps(allSum)));
}

/// sum += float(acc) * weight scale * activation scale
__m512 scaled(__m512i acc, const int32_t *scales, float activationScale, __m512 sum) {
  __m512 both = _mm512_mul_ps(_mm512_castsi512_ps(_mm512_loadu_si512(scales)),
                              _mm512_set1_ps(activationScale));
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc), both, sum);
}

/// Four panels at a time: four streams from memory.
void int4Gemv(const int32_t *x, const float *scales, const int32_t *bias, const int32_t *weights,
              float *y, int groups, uint32_t begin, uint32_t end) {
  constexpr uint32_t kAtOnce = 4;
  const __m512i nibbles = _mm512_set1_epi8(15);
  for (uint32_t first = begin; first < end; first += kAtOnce) {
    __m512 sums[kAtOnce][2];
    for (auto &sum : sums)
      sum[0] = sum[1] = _mm512_setzero_ps();
    for (int g = 0; g < groups; ++g)
      for (uint32_t p = 0; p < kAtOnce; ++p) {
        const int32_t *block = weights + (size_t(first + p) * groups + g) * 160;
        __m512i acc[2] = {_mm512_set1_epi32(bias[g]), _mm512_set1_epi32(bias[g])};
        for (int c = 0; c < 4; ++c) {
          __m512i low = _mm512_set1_epi32(x[g * 8 + c]), high = _mm512_set1_epi32(x[g * 8 + c + 4]);
          for (int j = 0; j < 2; ++j) {
            __m512i w = _mm512_loadu_si512(block + c * 32 + j * 16),
                    upper = _mm512_and_si512(_mm512_srli_epi32(w, 4), nibbles);
            acc[j] = _mm512_dpbusd_epi32(acc[j], _mm512_and_si512(w, nibbles), low);
            acc[j] = _mm512_dpbusd_epi32(acc[j], upper, high);
          }
        }
        for (int j = 0; j < 2; ++j)
          sums[p][j] = scaled(acc[j], block + 128 + j * 16, scales[g], sums[p][j]);
      }
    for (uint32_t p = 0; p < kAtOnce; ++p)
      for (int j = 0; j < 2; ++j)
        _mm512_storeu_ps(y + (first + p) * 32 + j * 16, sums[p][j]);
  }
}

/// Rows [row, row + M) of one panel.
template <int M>
void int8Rows(const int32_t *x, const float *scales, const int32_t *bias, const int32_t *block,
              float *y, int row, int groups, uint32_t panel, uint32_t panels) {
  __m512 sums[M][2];
  for (int m = 0; m < M; ++m)
    sums[m][0] = sums[m][1] = _mm512_setzero_ps();
  for (int g = 0; g < groups; ++g, block += 288) {
    __m512i acc[M][2];
    for (int m = 0; m < M; ++m)
      acc[m][0] = acc[m][1] = _mm512_set1_epi32(bias[(row + m) * groups + g]);
    for (int c = 0; c < 8; ++c) {
      __m512i low = _mm512_loadu_si512(block + c * 32),
              high = _mm512_loadu_si512(block + c * 32 + 16);
      for (int m = 0; m < M; ++m) {
        __m512i v = _mm512_set1_epi32(x[((row + m) * groups + g) * 8 + c]);
        acc[m][0] = _mm512_dpbusd_epi32(acc[m][0], low, v);
        acc[m][1] = _mm512_dpbusd_epi32(acc[m][1], high, v);
      }
    }
    for (int m = 0; m < M; ++m)
      for (int j = 0; j < 2; ++j)
        sums[m][j] = scaled(acc[m][j], block + 256 + j * 16, scales[(row + m) * groups + g],
                            sums[m][j]);
  }
  for (int m = 0; m < M; ++m)
    for (int j = 0; j < 2; ++j)
      _mm512_storeu_ps(y + (size_t(row + m) * panels + panel) * 32 + j * 16, sums[m][j]);
}

/// Six rows at a time: twelve chains hide vpdpbusd's latency, and their sums fit into registers.
void int8Gemm(const int32_t *x, const float *scales, const int32_t *bias, const int32_t *weights,
              float *y, int rows, int groups, uint32_t begin, uint32_t end, uint32_t panels) {
  for (uint32_t panel = begin; panel < end; ++panel) {
    const int32_t *block = weights + size_t(panel) * groups * 288;
    int row = 0;
    for (; row + 6 <= rows; row += 6)
      int8Rows<6>(x, scales, bias, block, y, row, groups, panel, panels);
    for (; row < rows; row += 2)
      int8Rows<2>(x, scales, bias, block, y, row, groups, panel, panels);
  }
}

} // namespace

const HandWritten handWrittenAVX512 = {rmsNorm, gemv,          attention, int4Gemv, int8Gemm,
                                       "int4_gemv_4", 4, "int8_gemm_6", 6};
