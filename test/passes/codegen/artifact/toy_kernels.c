/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the toy model (ToyModel.cpp), in the calling convention of abi.h. `embed` copies
 * through memcpy, so the executor's own memcpy must be found by the link.
 */
#include "llmc/abi.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define KERNEL(name)                                                                               \
  void JOIN(KERNEL_PREFIX, name)(void *const *table, const uint16_t *slots, const llmc_step *step, \
                                 uint32_t begin, uint32_t end)

enum {
  HIDDEN = 6,
  VOCABULARY = 11,
  PANEL = 4,
  WIDTH = 2,
  CHUNK_FLOATS = LLMC_KV_CHUNK_TOKENS * 2 * WIDTH
};

void *memcpy(void *to, const void *from, __SIZE_TYPE__ bytes);
KERNEL(embed);
KERNEL(append);
KERNEL(mix);
KERNEL(head);

KERNEL(embed) {
  const float *embedding = table[slots[0]];
  float *x = table[slots[1]];
  volatile __SIZE_TYPE__ bytes = HIDDEN * sizeof(float); /* not known here, so memcpy is a call */
  for (uint32_t r = begin; r < end; ++r)
    memcpy(x + r * HIDDEN, embedding + step->tokens[r] * HIDDEN, bytes);
}

static float *key_of(float *kv, const llmc_step *step, uint32_t row, int32_t slot) {
  const uint32_t chunk = (uint32_t)slot / LLMC_KV_CHUNK_TOKENS;
  const uint32_t page =
      step->pages[step->sequence_page[step->row_sequence[row]] + chunk / step->page_chunks];
  return kv + (page * step->page_chunks + chunk % step->page_chunks) * CHUNK_FLOATS +
         slot % LLMC_KV_CHUNK_TOKENS * WIDTH;
}

KERNEL(append) {
  const float *rope = table[slots[0]];
  const float *x = table[slots[1]];
  float *kv = table[slots[2]];
  for (uint32_t r = begin; r < end; ++r)
    for (int k = 0; k < WIDTH; ++k)
      key_of(kv, step, r, step->slots[r])[k] =
          x[r * HIDDEN + k] + rope[step->positions[r] * 2 * WIDTH + k];
}

KERNEL(mix) {
  float *kv = table[slots[0]];
  const float *x = table[slots[1]];
  float *y = table[slots[2]];
  for (uint32_t r = begin; r < end; ++r)
    for (int k = 0; k < HIDDEN; ++k) {
      float sum = x[r * HIDDEN + k];
      for (int32_t slot = 0; slot <= step->slots[r]; ++slot)
        sum += key_of(kv, step, r, slot)[k % WIDTH];
      y[r * HIDDEN + k] = sum;
    }
}

KERNEL(head) {
  const uint32_t panels = (VOCABULARY + PANEL - 1) / PANEL;
  const float *y = table[slots[0]];
  const float *weight = table[slots[1]];
  float *logits = table[slots[2]];
  for (uint32_t program = begin; program < end; ++program) {
    const uint32_t output = program / panels, panel = program % panels;
    const float *row = y + step->output_rows[output] * HIDDEN;
    for (uint32_t lane = 0; lane < PANEL && panel * PANEL + lane < VOCABULARY; ++lane) {
      float sum = 0;
      for (uint32_t k = 0; k < HIDDEN; ++k)
        sum += row[k] * weight[(panel * HIDDEN + k) * PANEL + lane];
      logits[output * VOCABULARY + panel * PANEL + lane] = sum;
    }
  }
}
