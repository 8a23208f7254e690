// SPDX-License-Identifier: Apache-2.0
//
// Rows of the table for int4 and int8 weights in groups of 32.
#include "llmc/abi.h"
#include "tools/bench/spike/Ceilings.h"
#include "tools/bench/spike/HandWritten.h"
#include "tools/bench/spike/Measure.h"
#include "tools/bench/spike/TileKernels.h"
#include "tools/llmc/ceilings/Loops.h"
#include <cstring>

static constexpr int kGroups = 64, kPanels = 64, kRows = 256; // K = N = 2048

namespace {
/// Activations as int8 in groups of 32 with a scale, and what undoes the weights' bias.
struct Activations {
  Words words, bias;
  Floats scales;
};
} // namespace

static Activations randomActivations(int rows, int weightBias) {
  std::mt19937 generator(3);
  Activations made;
  for (int group = 0; group < rows * kGroups; ++group) {
    int8_t bytes[32];
    int sum = 0;
    for (int8_t &byte : bytes)
      sum += byte = int8_t(int(generator() % 255) - 127);
    for (int word = 0; word < 8; ++word) {
      int32_t packed;
      std::memcpy(&packed, bytes + 4 * word, 4);
      made.words.push_back(packed);
    }
    made.bias.push_back(-weightBias * sum);
    made.scales.push_back(0.01f);
  }
  return made;
}

/// Blocks of `lines` words of bytes, then one of scales, for 32 rows each.
static Words randomBlocks(size_t blocks, int lines) {
  std::mt19937 generator(4);
  Words words;
  words.reserve(blocks * (lines + 1) * 32);
  for (size_t block = 0; block < blocks; ++block) {
    for (int i = 0; i < lines * 32; ++i)
      words.push_back(int32_t(generator()));
    for (int i = 0; i < 32; ++i) {
      float scale = 0.01f + 0.001f * float(i);
      int32_t bits;
      std::memcpy(&bits, &scale, 4);
      words.push_back(bits);
    }
  }
  return words;
}

bool measurePacked(const TileKernels &kernels) {
  const HandWritten &hand = handWritten();
  llmc_kernel_fn gemv = kernels.find(hand.int4GemvProgram),
                 gemm = kernels.find(hand.int8GemmProgram), gemmOfRest = kernels.find("int8_gemm");
  if (!gemv || !gemm || !gemmOfRest)
    return false;
  const uint16_t slots[] = {0, 1, 2, 3, 4};
  llmc_step step = {};
  step.n_rows = uint32_t(kRows / hand.int8GemmRows * hand.int8GemmRows);
  llmc_step restStep = {};
  restStep.n_rows = kRows - step.n_rows;
  const size_t matrix = size_t(kPanels) * kGroups * 160, copies = coldCopies(4 * matrix);
  Activations one = randomActivations(1, 8), many = randomActivations(kRows, 128);
  Words int4 = repeated(randomBlocks(size_t(kPanels) * kGroups, 4), copies),
                       int8 = randomBlocks(size_t(kPanels) * kGroups, 8);
  Floats tileOut(2048), handOut(2048), tileMany(kRows * 2048), handMany(kRows * 2048);
  size_t tileAt = 0, handAt = copies / 2;
  auto runTile = [&](size_t copy, uint32_t end) {
    void *table[] = {one.words.data(), one.scales.data(), one.bias.data(),
                     int4.data() + copy * matrix, tileOut.data()};
    gemv(table, slots, &step, 0, end / hand.int4GemvPanels);
  };
  auto runHand = [&](size_t copy, uint32_t end) {
    hand.int4Gemv(one.words.data(), one.scales.data(), one.bias.data(), int4.data() + copy * matrix,
                  handOut.data(), kGroups, 0, end);
  };
  const Row cold = {"int4 gemv 2048 x 2048, cold",
                    [&] { runTile(tileAt++ % copies, kPanels); },
                    [&] { runHand(handAt++ % copies, kPanels); },
                    4.0 * matrix,
                    &tileOut,
                    &handOut,
                    [&] { runTile(0, kPanels), runHand(0, kPanels); }};
  report(cold);
  auto often = [](auto work) { // too short for the clock
    return [work] {
      for (int i = 0; i < 16; ++i)
        work();
    };
  };
  report({"int4 gemv 2048 x 128, in cache x 16", often([&] { runTile(0, 4); }),
          often([&] { runHand(0, 4); }), 4.0 * matrix, &tileOut, &handOut});
  void *manyTable[] = {many.words.data(), many.scales.data(), many.bias.data(), int8.data(),
                       tileMany.data()};
  const size_t first = step.n_rows;
  void *restTable[] = {many.words.data() + first * kGroups * 8,
                       many.scales.data() + first * kGroups,
                       many.bias.data() + first * kGroups, int8.data(),
                       tileMany.data() + first * 2048};
  const Row prefill = {"int8 gemm 256 x 2048 x 128",
                       [&] {
                         gemm(manyTable, slots, &step, 0, 4);
                         if (restStep.n_rows)
                           gemmOfRest(restTable, slots, &restStep, 0, 4);
                       },
                       [&] {
                         hand.int8Gemm(many.words.data(), many.scales.data(), many.bias.data(),
                                       int8.data(), handMany.data(), kRows, kGroups, 0, 4, kPanels);
                       },
                       256.0 * 2048 * 128 * 2, // operations, not bytes
                       &tileMany,
                       &handMany};
  report(prefill);

  printf("\n| kernel | ceiling, one thread | its rate | tile | hand-written | reference machine "
         "|\n|---|---|---|---|---|---|\n");
  size_t readAt = copies / 4;
  auto read = [&](int streams) {
    llmc::ceilings::readStreams(int4.data() + readAt++ % copies * matrix, 4 * matrix, streams,
                                hasByteProducts() ? LLMC_CPU_AVX512F : LLMC_CPU_AVX2);
  };
  reportShare(cold, {"read, 1 stream", "GB/s", "79 - 98 %", [&] { read(1); }, 4.0 * matrix});
  reportShare(cold, {"read, 4 streams", "GB/s", "", [&] { read(4); }, 4.0 * matrix});
  const int rounds = 50000;
  if (hasByteProducts()) {
    const llmc::ceilings::ArithmeticLoop loop =
        llmc::ceilings::int8Loop(LLMC_CPU_AVX512F | LLMC_CPU_AVX512VNNI);
    reportShare(prefill, {"vpdpbusd", "GOP/s", "66 - 72 %", [&] { loop.run(rounds); },
                          rounds * loop.operationsInRound});
    return true;
  }
  reportShare(prefill, {"vpmaddwd + vpaddd", "GOP/s", "70 % (of vpdpbusd)",
                        [&] { multiplyAddRounds(rounds); }, rounds * kOperationsInRound});
  reportShare(prefill, {"the same + splitting bytes", "GOP/s", "",
                        [&] { splitMultiplyAddRounds(rounds); }, rounds * kOperationsInRound});
  return true;
}
