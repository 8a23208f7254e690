// SPDX-License-Identifier: Apache-2.0
//
// What this machine can do at best, for one thread: the ceilings of the packed kernels.
#pragma once

#include <cstddef>
#include <cstdint>

/// Reads `words` as `streams` linear streams of equal length (a multiple of 64 bytes each).
void readLinear(const int32_t *words, size_t count, int streams);

/// Operations of one of the rounds below: 16 products of bytes and their additions, 16 times.
constexpr double kOperationsInRound = 16 * 16 * 2;

/// vpmaddwd and vpaddd alone in eight chains, in registers: what vpdpbusd's peak is on
/// a machine that has it.
void multiplyAddRounds(int rounds);

/// vpdpbusd alone in sixteen chains of 512 bits; where hasByteProducts().
void byteProductRounds(int rounds);
constexpr double kOperationsInByteRound = 16 * 64 * 2;

/// The first with what bytes cost without it, all of it in the first-level cache: each register of
/// weights read and split for two rows, each row's activations broadcast and sign-extended.
void splitMultiplyAddRounds(int rounds);
