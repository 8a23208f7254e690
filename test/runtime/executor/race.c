/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads work on runs of the demo model, everything instrumented by ThreadSanitizer:
 * executor-tsan.o and the kernels. Built three times; the planted faults must be reported, the
 * clean model must not.
 */
#include "llmc/abi.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60, REPEATS = 60 };

extern const llmc_artifact *llmc_query(uint32_t version);

static void *help(void *run) {
  llmc_query(LLMC_ABI_VERSION)->run_help((llmc_run *)run);
  return NULL;
}

int main(void) {
  const llmc_artifact *demo = llmc_query(LLMC_ABI_VERSION);
  static int32_t tokens[ROWS], positions[ROWS], sequences[ROWS];
  static const int32_t output_rows[1] = {ROWS - 1}, sequence_row[2] = {0, 1}, zero[1] = {0};
  static const uint32_t pages[1] = {0};
  for (int32_t i = 0; i < ROWS; ++i) {
    tokens[i] = i * 7 % 40;
    positions[i] = i;
  }
  const llmc_memory memory = {sizeof memory,
                              ROWS,
                              1,
                              1,
                              aligned_alloc(64, demo->rows_arena_bytes * 64),
                              aligned_alloc(64, demo->outputs_arena_bytes),
                              aligned_alloc(64, demo->chunk_bytes),
                              NULL};
  const llmc_step step = {sizeof step,
                          LLMC_MASK_CAUSAL,
                          ROWS,
                          1,
                          1,
                          1,
                          0,
                          0,
                          tokens,
                          NULL,
                          positions,
                          positions,
                          sequences,
                          output_rows,
                          sequence_row,
                          zero,
                          zero,
                          pages};
  const llmc_run_options options = {sizeof options, 0, 0, 0, UINT32_MAX, 0, NULL, NULL, NULL};
  llmc_run *run = (llmc_run *)aligned_alloc(64, (demo->run_bytes(demo, 0) + 63) / 64 * 64);
  for (int repeat = 0; repeat < REPEATS; ++repeat) {
    pthread_t helper;
    if (demo->run_begin(demo, &memory, &step, &options, run) ||
        pthread_create(&helper, NULL, help, run) || demo->run_work(run) ||
        pthread_join(helper, NULL))
      return 3;
  }
  printf("%d runs done\n", REPEATS);
  free(run);
  free(memory.rows_arena);
  free(memory.outputs_arena);
  free(memory.kv);
  return 0;
}
