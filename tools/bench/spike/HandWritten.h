// SPDX-License-Identifier: Apache-2.0
//
// What a person would write with intrinsics for the same layouts and the same order of additions as
// the tile programs: with AVX2, and with AVX-512 and its products of bytes.
#pragma once

#include <cstdint>

struct HandWritten {
  /// y = x / rms(x) * weight for rows [begin, end).
  void (*rmsNorm)(const float *x, const float *weight, float *y, int width, uint32_t begin,
                  uint32_t end);

  /// One row of `depth` times panels [begin, end) of 32 columns, each panel stored line by line.
  void (*gemv)(const float *x, const float *panels, float *y, int depth, uint32_t begin,
               uint32_t end);

  /// Online softmax of one query over `tokens` keys and values of width 64 in chunks of 64 tokens.
  void (*attention)(const float *query, const float *keys, const float *values, float *y,
                    int tokens, int64_t chunkStride);

  /// int4 weights in blocks of one group (spike.mlir says how), panels [begin, end) of 32 rows;
  /// `bias` = -8 times the sum of the group's activations. A multiple of int4GemvPanels.
  void (*int4Gemv)(const int32_t *x, const float *scales, const int32_t *bias,
                   const int32_t *weights, float *y, int groups, uint32_t begin, uint32_t end);

  /// int8 weights; an even number of rows; `bias` = -128 times the sum.
  void (*int8Gemm)(const int32_t *x, const float *scales, const int32_t *bias,
                   const int32_t *weights, float *y, int rows, int groups, uint32_t begin,
                   uint32_t end, uint32_t panels);

  /// The tile program of int4Gemv, and the panels of one of its programs.
  const char *int4GemvProgram;
  uint32_t int4GemvPanels;
  /// That of int8Gemm, and the rows that it takes at a time; what is left is for "int8_gemm".
  const char *int8GemmProgram;
  int int8GemmRows;
};

extern const HandWritten handWrittenAVX2, handWrittenAVX512;

/// Whether this machine has AVX-512 with products of bytes, as level native then has.
inline bool hasByteProducts() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}
inline const HandWritten &handWritten() {
  return hasByteProducts() ? handWrittenAVX512 : handWrittenAVX2;
}

/// Products of packed weights with AVX2 (HandPacked.cpp).
void int4GemvAVX2(const int32_t *x, const float *scales, const int32_t *bias,
                  const int32_t *weights, float *y, int groups, uint32_t begin, uint32_t end);
void int8GemmAVX2(const int32_t *x, const float *scales, const int32_t *bias,
                  const int32_t *weights, float *y, int rows, int groups, uint32_t begin,
                  uint32_t end, uint32_t panels);
