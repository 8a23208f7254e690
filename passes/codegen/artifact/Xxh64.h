// SPDX-License-Identifier: Apache-2.0
// XXH64 (seed 0) over bytes that come piece by piece: the hash of packed weights in
// `llmc_weight.hash` and `llmc_artifact.weights_hash`. `xxhsum -H1` gives the same number. Header
// only and without LLVM, because `llmc inspect --verify` uses it and loads no compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace llmc::artifact {

class Xxh64 {
public:
  void add(const void *data, size_t size) {
    const unsigned char *bytes = static_cast<const unsigned char *>(data);
    total += size;
    if (held) {
      size_t taken = size < kStripe - held ? size : kStripe - held;
      std::memcpy(buffer + held, bytes, taken);
      held += taken;
      bytes += taken;
      size -= taken;
      if (held < kStripe)
        return;
      addStripes(buffer, 1);
      held = 0;
    }
    const size_t stripes = size / kStripe;
    addStripes(bytes, stripes);
    bytes += stripes * kStripe;
    size -= stripes * kStripe;
    std::memcpy(buffer, bytes, size);
    held = size;
  }

  uint64_t value() const {
    uint64_t hash = total < kStripe ? kPrime5 : merged();
    hash += total;
    size_t at = 0;
    for (; at + 8 <= held; at += 8)
      hash = rotate(hash ^ round(0, word64(buffer + at)), 27) * kPrime1 + kPrime4;
    if (at + 4 <= held) {
      hash = rotate(hash ^ word32(buffer + at) * kPrime1, 23) * kPrime2 + kPrime3;
      at += 4;
    }
    for (; at < held; ++at)
      hash = rotate(hash ^ buffer[at] * kPrime5, 11) * kPrime1;
    hash = (hash ^ (hash >> 33)) * kPrime2;
    hash = (hash ^ (hash >> 29)) * kPrime3;
    return hash ^ (hash >> 32);
  }

private:
  static constexpr size_t kStripe = 32;
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87u;
  static constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
  static constexpr uint64_t kPrime3 = 0x165667B19E3779F9u;
  static constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
  static constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5u;

  static uint64_t rotate(uint64_t value, int bits) {
    return (value << bits) | (value >> (64 - bits));
  }
  static uint64_t round(uint64_t lane, uint64_t word) {
    return rotate(lane + word * kPrime2, 31) * kPrime1;
  }
  static uint64_t word64(const unsigned char *bytes) {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  static uint64_t word32(const unsigned char *bytes) {
    uint32_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  // In registers: bytes may alias the members, so they would be stored after each round.
  void addStripes(const unsigned char *bytes, size_t count) {
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    for (; count; --count, bytes += kStripe) {
      a = round(a, word64(bytes));
      b = round(b, word64(bytes + 8));
      c = round(c, word64(bytes + 16));
      d = round(d, word64(bytes + 24));
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
  }
  uint64_t merged() const {
    uint64_t hash =
        rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
    return hash;
  }

  uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  unsigned char buffer[kStripe];
  size_t held = 0;
  uint64_t total = 0;
};

} // namespace llmc::artifact
