/* SPDX-License-Identifier: Apache-2.0
 *
 * Prepares a run: checks every index that a kernel will follow against the artefact's tables and
 * the session's memory, resolves operands to addresses and counts the chunks of all commands.
 * Kernels check nothing afterwards.
 */
#include "runtime/executor/CheckStep.h"
#include "runtime/executor/Executor.h"
#include "runtime/executor/Run.h"

static uint64_t alignUp(uint64_t bytes) {
  return (bytes + LLMC_CACHE_LINE - 1) & ~(uint64_t)(LLMC_CACHE_LINE - 1);
}

uint64_t llmc_executor_run_bytes(const llmc_artifact *artifact, uint32_t graph) {
  if (!artifact || graph >= artifact->n_graphs)
    return 0;
  const llmc_graph *g = &artifact->graphs[graph];
  return sizeof(struct llmc_run) + alignUp((uint64_t)g->n_operands * sizeof(void *)) +
         3 * alignUp((uint64_t)g->n_commands * sizeof(uint32_t)) +
         (uint64_t)g->n_commands * sizeof(struct llmc_claims);
}

static void placeArrays(llmc_run *run) {
  const llmc_graph *graph = run->graph;
  const uint64_t counters = alignUp((uint64_t)graph->n_commands * sizeof(uint32_t));
  char *next = (char *)(run + 1);
  run->table = (void **)next;
  next += alignUp((uint64_t)graph->n_operands * sizeof(void *));
  run->programs = (uint32_t *)next;
  run->chunks = (uint32_t *)(next += counters);
  run->done = (_Atomic uint32_t *)(next += counters);
  run->claims = (struct llmc_claims *)(next += counters);
}

static const char *weightsOf(const llmc_artifact *artifact, const llmc_memory *memory) {
  if (memory->weights)
    return (const char *)memory->weights;
  return artifact->weights_delta ? (const char *)&artifact->weights_delta + artifact->weights_delta
                                 : (const char *)0;
}

static int resolveOperands(llmc_run *run, const llmc_artifact *artifact,
                           const llmc_memory *memory) {
  const char *weights = weightsOf(artifact, memory);
  for (uint32_t i = 0; i < run->graph->n_operands; ++i) {
    const llmc_operand *operand = &run->graph->operands[i];
    char *base = 0;
    uint64_t scale = 1;
    switch (operand->kind) {
    case LLMC_OPERAND_ROWS:
      base = (char *)memory->rows_arena;
      scale = memory->max_rows;
      break;
    case LLMC_OPERAND_OUTPUTS:
      base = (char *)memory->outputs_arena;
      scale = memory->max_outputs;
      break;
    case LLMC_OPERAND_WEIGHT:
      base = (char *)(uintptr_t)weights;
      break;
    case LLMC_OPERAND_KV:
      base = (char *)memory->kv;
      break;
    }
    if (!base)
      return 0;
    run->table[i] = base + operand->offset * scale;
  }
  return 1;
}

static uint64_t extentOf(const llmc_step *step, uint32_t extent) {
  switch (extent) {
  case LLMC_EXTENT_ONE:
    return 1;
  case LLMC_EXTENT_ROWS:
    return step->n_rows;
  case LLMC_EXTENT_OUTPUTS:
    return step->n_outputs;
  default:
    return step->n_sequences;
  }
}

static int countChunks(llmc_run *run, const llmc_artifact *artifact) {
  for (uint32_t i = 0; i < run->graph->n_commands; ++i) {
    const llmc_command *command = &run->graph->commands[i];
    const uint64_t programs = extentOf(run->step, command->extent) * command->inner;
    if (programs > UINT32_MAX || !command->programs_per_chunk)
      return 0;
    if (command->kernel >= artifact->n_kernels || command->extent > LLMC_EXTENT_SEQUENCES)
      return 0;
    if (command->dependency < -1 || command->dependency >= (int64_t)i)
      return 0;
    const uint64_t per_chunk = command->programs_per_chunk;
    run->programs[i] = (uint32_t)programs;
    run->chunks[i] = (uint32_t)((programs + per_chunk - 1) / per_chunk);
    if (run->times)
      run->times[i].begin = run->times[i].end = 0;
  }
  return 1;
}

/* Counters of what threads claim and finish. */
static void clearCounters(llmc_run *run) {
  for (uint32_t i = run->first_command; i < run->end_command; ++i) {
    atomic_init(&run->done[i], 0);
    for (uint32_t share = 0; share < run->shares; ++share)
      atomic_init(&run->claims[i].taken[share], 0);
  }
}

static uint32_t sharesFor(uint32_t threads) {
  if (threads == 0)
    return 1;
  return threads < LLMC_MOST_SHARES ? threads : LLMC_MOST_SHARES;
}

/* An engine from before `late` gives options that end there. */
static int hasLate(const llmc_run_options *options) {
  return options->struct_size >= sizeof(llmc_run_options);
}

static int optionsFit(const llmc_artifact *artifact, const llmc_run_options *options) {
  if (!options || options->struct_size < offsetof(llmc_run_options, late))
    return 0;
  if (options->graph >= artifact->n_graphs || options->level >= artifact->n_levels)
    return 0;
  const uint32_t n_commands = artifact->graphs[options->graph].n_commands;
  const uint32_t end = options->end_command == UINT32_MAX ? n_commands : options->end_command;
  return options->first_command <= end && end <= n_commands;
}

uint32_t llmc_executor_run_begin(const llmc_artifact *artifact, const llmc_memory *memory,
                                 const llmc_step *step, const llmc_run_options *options,
                                 llmc_run *run) {
  if (!artifact || !run || (uintptr_t)run % LLMC_CACHE_LINE || !optionsFit(artifact, options))
    return LLMC_RUN_BAD_ARGUMENT;
  const llmc_graph *graph = &artifact->graphs[options->graph];
  if (!llmcStepFits(artifact, graph, memory, step))
    return LLMC_RUN_BAD_ARGUMENT;
  run->graph = graph;
  run->kernels = artifact->levels[options->level].kernels;
  run->step = step;
  run->clock = options->clock;
  run->times = options->clock ? options->times : (llmc_command_time *)0;
  run->late = hasLate(options) ? options->late : (uint64_t *)0;
  run->alone = options->threads == 1;
  run->shares = sharesFor(options->threads);
  run->first_command = options->first_command;
  run->end_command = options->end_command == UINT32_MAX ? graph->n_commands : options->end_command;
  placeArrays(run);
  if (!resolveOperands(run, artifact, memory) || !countChunks(run, artifact))
    return LLMC_RUN_BAD_ARGUMENT;
  if (!run->alone)
    clearCounters(run);
  atomic_init(&run->arrived, 0);
  atomic_init(&run->completed, run->first_command);
  atomic_init(&run->lost, 0);
  atomic_store(&run->cancelled, 0);
  return LLMC_RUN_OK;
}
