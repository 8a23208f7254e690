// SPDX-License-Identifier: Apache-2.0
//
// Linears of many rounded rows, as a person would write them for the layouts and the arithmetic of
// the compiler: integers within a group of 32 columns, the chain from -bias * sum of the row's
// codes and the bits of 1.5 * 2^23 on, a multiply-add by the weight's scale that takes these off
// again, one by the row's, one more by the minimum. With AVX-512 and vpdpbusd, and with AVX2.
#pragma once

#include <cstddef>
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
HandLinearLoop handLinear512(GroupKind kind, int depth);
HandLinearLoop handLinearAVX2(GroupKind kind, int depth);

constexpr int kColumns = 32;               ///< of a panel, and of a group
constexpr int kRowTile = 6, kLastTile = 4; ///< two last tiles where six leaves two rows
constexpr int kWords = 8;                  ///< of a group's bytes, for each column
constexpr int kFloatBits = 0x4B400000;     ///< of the float ...
constexpr float kFloatOffset = 12582912;   ///< ... which a small integer added to them is added to

/// Where things lie, in words of 32 bits.
template <GroupKind Kind, int Depth> struct Layout {
  static constexpr int kGroups = Depth / kColumns;
  static constexpr bool kNibbles = Kind != GroupKind::Int8,
                        kMinimum = Kind == GroupKind::Int4Minimum;
  static constexpr int kBias = kMinimum ? 0 : kNibbles ? 8 : 128;
  static constexpr int kScales = kWords * kGroups, kSums = kScales + kGroups,
                       kProducts = kSums + kGroups, kRow = kProducts + kGroups;
  static constexpr int kFactors = kMinimum ? 2 : 1; ///< of a column
  static constexpr int kCodes = (kNibbles ? kWords / 2 : kWords) * kColumns;
  static constexpr int kGroup = kCodes + kColumns / 2 * kFactors;
};

/// RowTile<L, Rows>::run(rows, lines, results, stride) of all rows, for the columns from `column` on.
template <typename L, template <typename, int> class RowTile>
void overRows(const HandLinear &work, const int32_t *lines, int column) {
  const int last = (kRowTile - work.count % kRowTile) % kRowTile / 2 * kLastTile;
  const auto run = [&](auto tile, int row) {
    tile.run(work.rows + size_t(row) * L::kRow, lines,
             work.results + size_t(row) * work.outputs + column, work.outputs);
  };
  int row = 0;
  for (; row < work.count - last; row += kRowTile)
    run(RowTile<L, kRowTile>(), row);
  for (; row < work.count; row += kLastTile)
    run(RowTile<L, kLastTile>(), row);
}

/// Loop<Kind, Depth>::run of the depths that there are.
template <template <GroupKind, int> class Loop, GroupKind Kind>
HandLinearLoop loopOfDepth(int depth) {
  switch (depth) {
  case 576:
    return Loop<Kind, 576>::run;
  case 896:
    return Loop<Kind, 896>::run;
  case 1536:
    return Loop<Kind, 1536>::run;
  case 4864:
    return Loop<Kind, 4864>::run;
  default:
    return nullptr;
  }
}

template <template <GroupKind, int> class Loop> HandLinearLoop loopOf(GroupKind kind, int depth) {
  switch (kind) {
  case GroupKind::Int4:
    return loopOfDepth<Loop, GroupKind::Int4>(depth);
  case GroupKind::Int4Minimum:
    return loopOfDepth<Loop, GroupKind::Int4Minimum>(depth);
  case GroupKind::Int8:
    return loopOfDepth<Loop, GroupKind::Int8>(depth);
  }
}
