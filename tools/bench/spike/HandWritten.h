// SPDX-License-Identifier: Apache-2.0
//
// What a person would write with AVX2 intrinsics for the same layouts and the same order of
// additions as the tile programs.
#pragma once

#include <cstdint>

/// y = x / rms(x) * weight for rows [begin, end).
void handRmsNorm(const float *x, const float *weight, float *y, int width, uint32_t begin,
                 uint32_t end);

/// One row of `depth` times panels [begin, end) of 32 columns, each panel stored line by line.
void handGemv(const float *x, const float *panels, float *y, int depth, uint32_t begin,
              uint32_t end);

/// Online softmax of one query over `tokens` keys and values of width 64 in chunks of 64 tokens.
void handAttention(const float *query, const float *keys, const float *values, float *y, int tokens,
                   int64_t chunkStride);

/// int4 weights in blocks of one group (spike.mlir says how), panels [begin, end) of 32 rows;
/// `bias` = -8 times the sum of the group's activations.
void handInt4Gemv(const int32_t *x, const float *scales, const int32_t *bias,
                  const int32_t *weights, float *y, int groups, uint32_t begin, uint32_t end);

/// int8 weights; an even number of rows; `bias` = -128 times the sum.
void handInt8Gemm(const int32_t *x, const float *scales, const int32_t *bias,
                  const int32_t *weights, float *y, int rows, int groups, uint32_t begin,
                  uint32_t end, uint32_t panels);
