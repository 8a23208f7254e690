// SPDX-License-Identifier: Apache-2.0
// Philox4x32 with ten rounds, and the uniform number of a draw.
#include "runtime/engine/Random.h"
#include "llmc/sample.h"

namespace llmc {
namespace {

constexpr int kRounds = 10;
constexpr uint64_t kMultiplierA = 0xd2511f53, kMultiplierB = 0xcd9e8d57;
constexpr uint32_t kWeylA = 0x9e3779b9, kWeylB = 0xbb67ae85; // added to the key after each round

constexpr uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

} // namespace

PhiloxCounter philox(PhiloxCounter c, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = kMultiplierA * c[0], b = kMultiplierB * c[2];
    c = {high(b) ^ c[1] ^ key[0], low(b), high(a) ^ c[3] ^ key[1], low(a)};
    key[0] += kWeylA;
    key[1] += kWeylB;
  }
  return c;
}

} // namespace llmc

using namespace llmc;

extern "C" double llmc_uniform(uint64_t seed, uint64_t sequence, uint64_t position) {
  const PhiloxCounter words = philox({low(position), high(position), low(sequence), high(sequence)},
                                     {low(seed), high(seed)});
  const uint64_t bits = static_cast<uint64_t>(words[1]) << 32 | words[0];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}
