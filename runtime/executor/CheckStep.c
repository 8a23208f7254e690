/* SPDX-License-Identifier: Apache-2.0
 *
 * The checks of a step, in the order of the descriptor. They give no message: the engine names what
 * is wrong before it comes here, and a caller that goes past the engine learns that its descriptor
 * was refused before anything was written.
 */
#include "runtime/executor/CheckStep.h"

static int memoryFits(const llmc_artifact *artifact, const llmc_memory *memory) {
  if (!memory || memory->struct_size < sizeof(llmc_memory) || !memory->max_rows)
    return 0;
  if (artifact->rows_arena_bytes && !memory->rows_arena)
    return 0;
  if (artifact->outputs_arena_bytes && memory->max_outputs && !memory->outputs_arena)
    return 0;
  return !artifact->chunk_bytes || memory->kv;
}

static int hasResult(const llmc_graph *graph, uint32_t kind) {
  for (uint32_t i = 0; i < graph->n_results; ++i)
    if (graph->results[i].kind == kind)
      return 1;
  return 0;
}

static int countsFit(const llmc_artifact *artifact, const llmc_graph *graph,
                     const llmc_memory *memory, const llmc_step *step) {
  if (!step->n_rows || step->n_rows > memory->max_rows)
    return 0;
  if (!step->n_sequences || step->n_sequences > step->n_rows ||
      step->n_sequences > artifact->limits.max_sequences)
    return 0;
  if (step->n_outputs > step->n_rows || step->n_outputs > memory->max_outputs)
    return 0;
  if (hasResult(graph, LLMC_RESULT_ACCEPTED) && step->n_sequences > memory->max_outputs)
    return 0;
  return step->mask_kind == LLMC_MASK_CAUSAL && step->page_chunks && !step->adapter;
}

static int arraysGiven(const llmc_step *step) {
  return (step->tokens || step->embeddings) && step->positions && step->slots &&
         step->row_sequence && (step->output_rows || !step->n_outputs) && step->sequence_row &&
         step->sequence_base && step->sequence_page && step->pages;
}

static int rowFits(const llmc_artifact *artifact, const llmc_memory *memory, const llmc_step *step,
                   uint32_t row) {
  const uint64_t page_tokens = (uint64_t)step->page_chunks * LLMC_KV_CHUNK_TOKENS;
  if (step->tokens && (uint32_t)step->tokens[row] >= artifact->limits.vocabulary)
    return 0;
  if ((uint32_t)step->positions[row] >= artifact->limits.max_positions)
    return 0;
  if ((uint32_t)step->row_sequence[row] >= step->n_sequences || step->slots[row] < 0)
    return 0;
  const int32_t first_page = step->sequence_page[step->row_sequence[row]];
  const uint64_t page = (uint64_t)step->slots[row] / page_tokens;
  return first_page >= 0 && step->pages[(uint64_t)first_page + page] < memory->n_pages;
}

static int outputsFit(const llmc_step *step) {
  for (uint32_t i = 0; i < step->n_outputs; ++i) {
    if ((uint32_t)step->output_rows[i] >= step->n_rows)
      return 0;
    if (i && step->output_rows[i] <= step->output_rows[i - 1])
      return 0;
  }
  if (step->sequence_row[0] != 0 ||
      (uint32_t)step->sequence_row[step->n_sequences] != step->n_outputs)
    return 0;
  for (uint32_t i = 0; i < step->n_sequences; ++i) {
    if (step->sequence_row[i] > step->sequence_row[i + 1])
      return 0;
    if (step->sequence_base[i] < 0 || step->sequence_base[i] % (int32_t)LLMC_KV_CHUNK_TOKENS)
      return 0;
  }
  return 1;
}

int llmcStepFits(const llmc_artifact *artifact, const llmc_graph *graph, const llmc_memory *memory,
                 const llmc_step *step) {
  if (!memoryFits(artifact, memory) || !step || step->struct_size < sizeof(llmc_step))
    return 0;
  if (!countsFit(artifact, graph, memory, step) || !arraysGiven(step) || !outputsFit(step))
    return 0;
  for (uint32_t row = 0; row < step->n_rows; ++row)
    if (!rowFits(artifact, memory, step, row))
      return 0;
  return 1;
}
