// SPDX-License-Identifier: Apache-2.0
//
// The spike of issue "The thin road": does the shared tile form reach hand-written intrinsics of
// the same layout? Both run in turns on the same data, so that a busy machine slows both; the
// median of the ratios is printed as a table.
#include "tools/bench/spike/HandWritten.h"
#include "tools/bench/spike/Measure.h"
#include "tools/bench/spike/TileKernels.h"
#include <cstdio>

namespace {

const uint16_t kSlots[] = {0, 1, 2};

void measureNorm(llmc_kernel_fn kernel) {
  const int width = 2048;
  llmc_step step = {};
  Floats x = randomFloats(64 * width), weight = randomFloats(width), tileY(64 * width),
                     handY(64 * width);
  void *normTable[] = {x.data(), weight.data(), tileY.data()};
  report({"rms_norm 64 x 2048", [&] { kernel(normTable, kSlots, &step, 0, 64); },
          [&] { handWritten().rmsNorm(x.data(), weight.data(), handY.data(), width, 0, 64); },
          64.0 * width * 8, &tileY, &handY});
}

void measureGemv(llmc_kernel_fn kernel) {
  // Weights from memory: matrices in turn; and one that stays in the cache.
  auto hand = handWritten().gemv;
  llmc_step step = {};
  Floats x = randomFloats(2048);
  const size_t matrix = size_t(2048) * 2048;
  const size_t copies = coldCopies(4 * matrix);
  Floats panels = repeated(randomFloats(matrix), copies), tileOut(2048), handOut(2048);
  size_t tileAt = 0, handAt = copies / 2;
  report({"gemv f32 2048 x 2048, cold",
          [&] {
            void *table[] = {x.data(), panels.data() + (tileAt++ % copies) * matrix,
                             tileOut.data()};
            kernel(table, kSlots, &step, 0, 64);
          },
          [&] {
            hand(x.data(), panels.data() + (handAt++ % copies) * matrix, handOut.data(), 2048, 0,
                 64);
          },
          4.0 * matrix, &tileOut, &handOut,
          [&] {
            void *table[] = {x.data(), panels.data(), tileOut.data()};
            kernel(table, kSlots, &step, 0, 64);
            hand(x.data(), panels.data(), handOut.data(), 2048, 0, 64);
          }});
  void *gemvTable[] = {x.data(), panels.data(), tileOut.data()};
  report({"gemv f32 2048 x 32, in cache x 16",
          [&] {
            for (int i = 0; i < 16; ++i)
              kernel(gemvTable, kSlots, &step, 0, 1);
          },
          [&] {
            for (int i = 0; i < 16; ++i)
              hand(x.data(), panels.data(), handOut.data(), 2048, 0, 1);
          },
          16 * 4.0 * 2048 * 32, &tileOut, &handOut});
}

void measureAttention(llmc_kernel_fn kernel) {
  const int tokens = 1000, chunks = 16;
  const int64_t block = 2 * 64 * 64;
  Floats query = randomFloats(64), cache = randomFloats(chunks * block), tileHead(64),
                     handHead(64);
  std::vector<uint32_t> pages(chunks);
  for (int i = 0; i < chunks; ++i)
    pages[i] = uint32_t(i);
  int32_t position = tokens - 1, zero = 0;
  llmc_step step = {};
  step.n_rows = step.n_sequences = step.page_chunks = 1;
  step.positions = &position, step.row_sequence = &zero, step.sequence_page = &zero,
  step.pages = pages.data();
  void *attentionTable[] = {query.data(), cache.data(), tileHead.data()};
  report({"attention, 1 head of 64, 1000 keys",
          [&] { kernel(attentionTable, kSlots, &step, 0, 1); },
          [&] {
            handWritten().attention(query.data(), cache.data(), cache.data() + 64 * 64,
                                    handHead.data(), tokens, block);
          },
          tokens * 512.0, &tileHead, &handHead});
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: llmc-spike tools/bench/spike/spike.mlir\n");
    return 2;
  }
  std::string error;
  TileKernels kernels(argv[1], error);
  llmc_kernel_fn norm = kernels.find("rms_norm"), gemv = kernels.find("gemv"),
                 attention = kernels.find("attention");
  if (!norm || !gemv || !attention) {
    fprintf(stderr, "%s: error: no kernels: %s\n", argv[1], error.c_str());
    return 1;
  }
  printf("| kernel                           | tile, us | GB/s or GOP/s | tile / hand | largest "
         "difference "
         "|\n|---|---|---|---|---|\n");
  measureNorm(norm);
  measureGemv(gemv);
  measureAttention(attention);
  return measurePacked(kernels) ? 0 : 1;
}
