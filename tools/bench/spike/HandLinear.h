// SPDX-License-Identifier: Apache-2.0
//
// Linears of many rounded rows, as a person would write them with AVX-512 for the layouts and the
// arithmetic of the compiler: integers within a group of 32 columns, the chain from -bias * sum of
// the row's codes on, one multiply-add by both scales, one more by the minimum.
#pragma once

#include <cstdint>

/// Of weights in groups: Q4_0, Q4_1 and Q8_0 of GGUF.
enum class GroupKind { Int4, Int4Minimum, Int8 };

/// Rows and weights as they lie (passes/tile/README.md), `outputs` a multiple of a panel's 32.
struct HandLinear {
  const int32_t *rows;    ///< each: codes, scales, sums, products of both
  const int32_t *weights; ///< panel by panel, group by group: codes, halves of scales, of minimums
  float *results;         ///< count x outputs
  int count;              ///< of rows: even, and not 2
  int outputs;
};

using HandLinearLoop = void (*)(const HandLinear &);

/// Strides are written into the instructions, so there is a loop for each depth; null for others
/// than 576, 896, 1536 and 4864.
HandLinearLoop handLinear(GroupKind kind, int depth);
