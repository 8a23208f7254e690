// SPDX-License-Identifier: Apache-2.0
// One loop, compiled for three widths of register.
#include "llmc/abi.h"
#include "tools/llmc/ceilings/Loops.h"

namespace llmc::ceilings {
namespace {

template <int Bytes> struct Register { typedef uint64_t type __attribute__((vector_size(Bytes))); };

// An or for each load keeps it; four of them, so that none waits for another.
template <int Bytes>
[[gnu::always_inline]] inline void read(const char *memory, size_t bytes, int streams) {
  using Vector = typename Register<Bytes>::type;
  constexpr int kLoads = kLine / Bytes;
  Vector seen[kMostStreams] = {};
  const size_t length = bytes / static_cast<size_t>(streams);
  // A single stream is read four lines at a time, four streams a line each.
  const size_t apart = streams == 1 ? kLine : length, step = streams == 1 ? 4 * kLine : kLine;
  size_t at = 0;
  for (; at + step <= length; at += step)
    for (int stream = 0; stream < kMostStreams; ++stream) {
      const Vector *line =
          reinterpret_cast<const Vector *>(memory + at + static_cast<size_t>(stream) * apart);
      for (int load = 0; load < kLoads; ++load)
        seen[stream] |= line[load];
    }
  for (; at < length; at += kLine) // the last lines of a single stream
    for (int load = 0; load < kLoads; ++load)
      seen[0] |= reinterpret_cast<const Vector *>(memory + at)[load];
  const Vector all = (seen[0] | seen[1]) | (seen[2] | seen[3]);
  asm volatile("" : : "m"(all));
}

[[gnu::target("avx512f")]] void read512(const char *memory, size_t bytes, int streams) {
  read<64>(memory, bytes, streams);
}
[[gnu::target("avx2")]] void read256(const char *memory, size_t bytes, int streams) {
  read<32>(memory, bytes, streams);
}
void read128(const char *memory, size_t bytes, int streams) { read<16>(memory, bytes, streams); }

} // namespace

void readStreams(const void *memory, size_t bytes, int streams, uint64_t features) {
  const char *begin = static_cast<const char *>(memory);
  if (features & LLMC_CPU_AVX512F)
    return read512(begin, bytes, streams);
  if (features & LLMC_CPU_AVX2)
    return read256(begin, bytes, streams);
  read128(begin, bytes, streams);
}

} // namespace llmc::ceilings
