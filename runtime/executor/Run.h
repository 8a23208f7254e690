/* SPDX-License-Identifier: Apache-2.0
 *
 * The workspace of one step. Everything above the first atomic is written by run_begin and only
 * read afterwards; threads meet in a few words on lines of their own and in one counter of finished
 * chunks for each command.
 */
#ifndef LLMC_EXECUTOR_RUN_H
#define LLMC_EXECUTOR_RUN_H

#include "llmc/abi.h"
#include <stdatomic.h>

#define LLMC_CACHE_LINE 64

struct llmc_run {
  const llmc_graph *graph;
  const llmc_kernel_fn *kernels;
  const llmc_step *step;
  uint64_t (*clock)(void);
  llmc_command_time *times;
  uint64_t *late;         /* where lateness is noted, or NULL */
  void **table;           /* [n_operands] resolved addresses */
  uint32_t *programs;     /* [n_commands] */
  uint64_t *tickets;      /* [n_commands + 1] chunks of all commands before this one */
  _Atomic uint32_t *done; /* [n_commands] finished chunks */
  uint32_t first_command;
  uint32_t end_command;
  uint32_t alone;
  /* Chunks of all commands are numbered through: the next number that nobody has claimed. */
  _Alignas(LLMC_CACHE_LINE) _Atomic uint64_t cursor;
  /* All commands before this one are complete. */
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t completed;
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t cancelled;
  /* Most ticks that a thread waited for late ones. Seldom written, as the one before. */
  _Atomic uint64_t lost;
};

static inline uint32_t llmcChunks(const llmc_run *run, uint32_t command) {
  return (uint32_t)(run->tickets[command + 1] - run->tickets[command]);
}

#endif
