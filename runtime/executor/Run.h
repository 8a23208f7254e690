/* SPDX-License-Identifier: Apache-2.0
 *
 * The workspace of one step. Everything above the first atomic is written by run_begin and only
 * read afterwards; threads meet in three words on lines of their own and in one counter of finished
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
  void **table;           /* [n_operands] resolved addresses */
  uint32_t *programs;     /* [n_commands] */
  uint32_t *chunks;       /* [n_commands] */
  _Atomic uint32_t *done; /* [n_commands] finished chunks */
  uint32_t first_command;
  uint32_t end_command;
  /* Next chunk that nobody has claimed: command in the upper half, chunk in the lower. */
  _Alignas(LLMC_CACHE_LINE) _Atomic uint64_t cursor;
  /* All commands before this one are complete. */
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t completed;
  _Alignas(LLMC_CACHE_LINE) _Atomic uint32_t cancelled;
};

#endif
