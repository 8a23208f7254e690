/* SPDX-License-Identifier: Apache-2.0
 *
 * The command loop. A thread claims the next chunk, waits until the commands that it needs are
 * complete, runs it, counts it. Chunks are claimed in order, so whoever waits waits for a chunk
 * that some thread is working on: one thread alone finishes a run, and helpers may come late or
 * never.
 */
#include "runtime/executor/Executor.h"
#include "runtime/executor/Run.h"
#include "runtime/executor/cpu/Pause.h"

/* Any thread may move `completed` on, those that wait for it do: nobody has to be told that a
 * command is complete. */
static uint32_t advanceCompleted(llmc_run *run) {
  uint32_t completed = atomic_load_explicit(&run->completed, memory_order_acquire);
  while (completed < run->end_command) {
    const uint32_t done = atomic_load_explicit(&run->done[completed], memory_order_acquire);
    if (done < run->chunks[completed])
      break;
    if (atomic_compare_exchange_weak_explicit(&run->completed, &completed, completed + 1,
                                              memory_order_acq_rel, memory_order_acquire))
      ++completed;
  }
  return completed;
}

static int isCancelled(llmc_run *run) {
  return atomic_load_explicit(&run->cancelled, memory_order_relaxed) != 0;
}

/* False when the run was cancelled before the first `count` commands were complete. */
static int waitForCommands(llmc_run *run, uint32_t count) {
  /* Looks at nothing newer than it needs, so that ThreadSanitizer sees a dependency that a command
   * table forgot. */
  if (atomic_load_explicit(&run->completed, memory_order_acquire) >= count)
    return 1;
  uint32_t turn = 0;
  while (advanceCompleted(run) < count) {
    if (isCancelled(run))
      return 0;
    llmcPause(turn++);
  }
  return 1;
}

static int claimChunk(llmc_run *run, uint32_t *command, uint32_t *chunk) {
  uint64_t cursor = atomic_load_explicit(&run->cursor, memory_order_relaxed);
  for (;;) {
    *command = (uint32_t)(cursor >> 32);
    *chunk = (uint32_t)cursor;
    while (*command < run->end_command && *chunk >= run->chunks[*command]) {
      ++*command;
      *chunk = 0;
    }
    if (*command >= run->end_command)
      return 0;
    const uint64_t next = ((uint64_t)*command << 32) | (*chunk + 1);
    if (atomic_compare_exchange_weak_explicit(&run->cursor, &cursor, next, memory_order_relaxed,
                                              memory_order_relaxed))
      return 1;
  }
}

static void noteBegin(uint64_t *begin, uint64_t now) {
  uint64_t seen = __atomic_load_n(begin, __ATOMIC_RELAXED);
  while ((!seen || now < seen) &&
         !__atomic_compare_exchange_n(begin, &seen, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void noteEnd(uint64_t *end, uint64_t now) {
  uint64_t seen = __atomic_load_n(end, __ATOMIC_RELAXED);
  while (now > seen &&
         !__atomic_compare_exchange_n(end, &seen, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void runChunk(llmc_run *run, uint32_t index, uint32_t chunk) {
  const llmc_command *command = &run->graph->commands[index];
  const uint64_t begin = (uint64_t)chunk * command->programs_per_chunk;
  uint64_t end = begin + command->programs_per_chunk;
  if (end > run->programs[index])
    end = run->programs[index];
  if (run->times)
    noteBegin(&run->times[index].begin, run->clock());
  run->kernels[command->kernel](run->table, run->graph->slots + command->first_slot, run->step,
                                (uint32_t)begin, (uint32_t)end);
  if (run->times)
    noteEnd(&run->times[index].end, run->clock());
}

uint32_t llmc_executor_run_work(llmc_run *run) {
  uint32_t index, chunk;
  while (!isCancelled(run) && claimChunk(run, &index, &chunk)) {
    const int32_t dependency = run->graph->commands[index].dependency;
    if (dependency >= (int64_t)run->first_command &&
        !waitForCommands(run, (uint32_t)dependency + 1))
      return LLMC_RUN_CANCELLED;
    runChunk(run, index, chunk);
    atomic_fetch_add_explicit(&run->done[index], 1, memory_order_release);
  }
  return waitForCommands(run, run->end_command) ? LLMC_RUN_OK : LLMC_RUN_CANCELLED;
}

void llmc_executor_run_cancel(llmc_run *run) {
  if (run)
    atomic_store(&run->cancelled, 1);
}
