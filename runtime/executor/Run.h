/* SPDX-License-Identifier: Apache-2.0
 *
 * The workspace of one step. Everything above the first atomic is written by run_begin and only
 * read afterwards; threads meet in a few words on lines of their own, and for each command in a line
 * of claims and in one counter of finished chunks.
 */
#ifndef LLMC_EXECUTOR_RUN_H
#define LLMC_EXECUTOR_RUN_H

#include "llmc/abi.h"
#include <stdatomic.h>

#define LLMC_CACHE_LINE 64
#define LLMC_MOST_SHARES 16 /* of a command's chunks: their claims fill one line */

/* Share `i` of a command is a run of neighbouring chunks: how many of them have been claimed. */
struct llmc_claims {
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t taken[LLMC_MOST_SHARES];
};

struct llmc_run {
  const llmc_graph *graph;
  const llmc_kernel_fn *kernels;
  const llmc_step *step;
  uint64_t (*clock)(void);
  llmc_command_time *times;
  uint64_t *late;         /* where lateness is noted, or NULL */
  void **table;           /* [n_operands] resolved addresses */
  uint32_t *programs;     /* [n_commands] */
  uint32_t *chunks;       /* [n_commands] */
  _Atomic uint32_t *done; /* [n_commands] finished chunks */
  struct llmc_claims *claims; /* [n_commands] */
  uint32_t first_command;
  uint32_t end_command;
  uint32_t alone;
  uint32_t shares; /* of each command's chunks, at most LLMC_MOST_SHARES */
  /* Threads that have come: each begins with the share of its number. */
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t arrived;
  /* All commands before this one are complete. */
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t completed;
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t cancelled;
  /* Most ticks that a thread waited for late ones. Seldom written, as the one before. */
  _Atomic uint64_t lost;
};

#endif
