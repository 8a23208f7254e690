// SPDX-License-Identifier: Apache-2.0
//
// What a machine without vpdpbusd can do at best, for one thread: ceilings of the packed kernels
// beside those that `llmc bench` measures (tools/llmc/ceilings).
#pragma once

/// Operations of one of the rounds below: 16 products of bytes and their additions, 16 times.
constexpr double kOperationsInRound = 16 * 16 * 2;

/// vpmaddwd and vpaddd alone in eight chains, in registers: what vpdpbusd's peak is on
/// a machine that has it.
void multiplyAddRounds(int rounds);

/// The first with what bytes cost without it, all of it in the first-level cache: each register of
/// weights read and split for two rows, each row's activations broadcast and sign-extended.
void splitMultiplyAddRounds(int rounds);
