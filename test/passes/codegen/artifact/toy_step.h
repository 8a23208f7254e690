/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one step of a compiled toy model through abi.h alone: n tokens of one sequence, logits of
 * all of them.
 */
#ifndef LLMC_TEST_TOY_STEP_H
#define LLMC_TEST_TOY_STEP_H

#include "llmc/abi.h"
#include <stdlib.h>
#include <string.h>

enum { TOY_VOCABULARY = 11, TOY_HIDDEN = 6, TOY_MAX_TOKENS = 16 };

/* `logits` has room for n * TOY_VOCABULARY values. Gives an llmc_run_status, or -1 without memory.
 */
static inline int toy_step(const llmc_artifact *artifact, const void *weights, uint32_t level,
                           const int32_t *tokens, uint32_t n, float *logits) {
  int32_t positions[TOY_MAX_TOKENS], rows_of_sequence[TOY_MAX_TOKENS], starts[2], zero = 0;
  uint32_t page = 0;
  for (uint32_t i = 0; i < n; ++i) {
    positions[i] = (int32_t)i;
    rows_of_sequence[i] = 0;
  }
  starts[0] = 0;
  starts[1] = (int32_t)n;
  llmc_step step;
  memset(&step, 0, sizeof step);
  step.struct_size = sizeof step;
  step.n_rows = step.n_outputs = n;
  step.n_sequences = step.page_chunks = 1;
  step.tokens = tokens;
  step.positions = step.slots = step.output_rows = positions;
  step.row_sequence = rows_of_sequence;
  step.sequence_row = starts;
  step.sequence_base = step.sequence_page = &zero;
  step.pages = &page;

  llmc_memory memory;
  memset(&memory, 0, sizeof memory);
  memory.struct_size = sizeof memory;
  memory.max_rows = memory.max_outputs = n;
  memory.n_pages = 1;
  memory.rows_arena = aligned_alloc(64, artifact->rows_arena_bytes * n);
  memory.outputs_arena = aligned_alloc(64, artifact->outputs_arena_bytes * n);
  memory.kv = aligned_alloc(64, artifact->chunk_bytes);
  memory.weights = weights;
  llmc_run *run = (llmc_run *)aligned_alloc(64, (artifact->run_bytes(artifact, 0) + 63) / 64 * 64);
  llmc_run_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.level = level;
  options.end_command = UINT32_MAX;
  int status = -1;
  if (memory.rows_arena && memory.outputs_arena && memory.kv && run) {
    status = (int)artifact->run_begin(artifact, &memory, &step, &options, run);
    if (status == LLMC_RUN_OK)
      status = (int)artifact->run_work(run);
    const llmc_graph *graph = &artifact->graphs[0];
    const llmc_operand *place = &graph->operands[graph->results[0].operand];
    memcpy(logits, (char *)memory.outputs_arena + place->offset * n,
           n * TOY_VOCABULARY * sizeof(float));
  }
  free(memory.rows_arena);
  free(memory.outputs_arena);
  free(memory.kv);
  free(run);
  return status;
}

#endif
