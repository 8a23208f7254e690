// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but read, or nothing but multiply and add: what one thread of this machine
// can do at best. Each exists for several instruction sets; `features` (LLMC_CPU_* of abi.h) says
// which may be used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace llmc::ceilings {

constexpr int kMostStreams = 4;
// What a stream is read by; `bytes` below is a multiple of streams times this.
constexpr size_t kLine = 64;

// Reads `bytes` from a multiple of 64 on as `streams` (1 or kMostStreams) linear streams of equal
// length.
void readStreams(const void *memory, size_t bytes, int streams, uint64_t features);

struct ArithmeticLoop {
  const char *instructions; // for people: "vpdpbusd, 512 bits"
  double operationsInRound; // a multiply-add is two
  void (*run)(uint64_t rounds);
};

// The fastest way to multiply and add floats.
ArithmeticLoop f32Loop(uint64_t features);
// The fastest way to multiply unsigned bytes by signed ones and add the products as 32-bit numbers.
ArithmeticLoop int8Loop(uint64_t features);

} // namespace llmc::ceilings
