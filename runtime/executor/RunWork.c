/* SPDX-License-Identifier: Apache-2.0
 *
 * The command loop. A thread claims the next chunk, waits until the commands that it needs are
 * complete, runs it, counts it. Chunks are claimed in order, so whoever waits waits for a chunk
 * that some thread is working on: one thread alone finishes a run, and helpers may come late or
 * never. A thread that is promised to be alone claims, waits and counts nothing.
 */
#include "runtime/executor/Executor.h"
#include "runtime/executor/Run.h"
#include "runtime/executor/cpu/Pause.h"

/* What a thread knows of itself. */
struct worker {
  uint32_t command; /* of its last claim */
  uint64_t since;   /* when its last chunk ended, or when it came */
  uint64_t longest; /* ticks of its longest chunk */
  uint64_t late;    /* ticks that it waited for threads that were late */
};

/* Any thread may move `completed` on, those that wait for it do: nobody has to be told that a
 * command is complete. */
static uint32_t advanceCompleted(llmc_run *run) {
  uint32_t completed = atomic_load_explicit(&run->completed, memory_order_acquire);
  while (completed < run->end_command) {
    const uint32_t done = atomic_load_explicit(&run->done[completed], memory_order_acquire);
    if (done < llmcChunks(run, completed))
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

/* False when the run was cancelled before the first `count` commands were complete. A thread is
 * late when it is waited for longer than two of the waiting thread's own chunks took. */
static int waitForCommands(llmc_run *run, struct worker *self, uint32_t count) {
  /* Looks at nothing newer than it needs, so that ThreadSanitizer sees a dependency that a command
   * table forgot. */
  if (atomic_load_explicit(&run->completed, memory_order_acquire) >= count)
    return 1;
  const uint64_t patience = LLMC_PATIENCE_TICKS + 2 * self->longest;
  uint64_t waited = 0;
  while (advanceCompleted(run) < count) {
    if (isCancelled(run))
      return 0;
    waited = llmcTicks() - self->since;
    llmcPause(waited, patience);
  }
  if (waited > patience)
    self->late += waited;
  self->since = llmcTicks();
  return 1;
}

/* One addition, never repeated: numbers beyond the end are claims of nothing. */
static int claimChunk(llmc_run *run, struct worker *self, uint32_t *chunk) {
  const uint64_t ticket = atomic_fetch_add_explicit(&run->cursor, 1, memory_order_relaxed);
  if (ticket >= run->tickets[run->end_command])
    return 0;
  while (ticket >= run->tickets[self->command + 1])
    ++self->command;
  *chunk = (uint32_t)(ticket - run->tickets[self->command]);
  return 1;
}

static void noteBegin(uint64_t *begin, uint64_t now) {
  uint64_t seen = __atomic_load_n(begin, __ATOMIC_RELAXED);
  while ((!seen || now < seen) &&
         !__atomic_compare_exchange_n(begin, &seen, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void noteMost(uint64_t *most, uint64_t value) {
  uint64_t seen = __atomic_load_n(most, __ATOMIC_RELAXED);
  while (value > seen &&
         !__atomic_compare_exchange_n(most, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
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
    noteMost(&run->times[index].end, run->clock());
}

static uint32_t workAlone(llmc_run *run) {
  for (uint32_t command = run->first_command; command < run->end_command; ++command)
    for (uint32_t chunk = 0; chunk < llmcChunks(run, command); ++chunk) {
      if (isCancelled(run))
        return LLMC_RUN_CANCELLED;
      runChunk(run, command, chunk);
    }
  return LLMC_RUN_OK;
}

static uint32_t workWithOthers(llmc_run *run, struct worker *self) {
  uint32_t chunk;
  while (!isCancelled(run) && claimChunk(run, self, &chunk)) {
    const int32_t dependency = run->graph->commands[self->command].dependency;
    if (dependency >= (int64_t)run->first_command &&
        !waitForCommands(run, self, (uint32_t)dependency + 1))
      return LLMC_RUN_CANCELLED;
    runChunk(run, self->command, chunk);
    atomic_fetch_add_explicit(&run->done[self->command], 1, memory_order_release);
    const uint64_t now = llmcTicks();
    if (now - self->since > self->longest)
      self->longest = now - self->since;
    self->since = now;
  }
  return waitForCommands(run, self, run->end_command) ? LLMC_RUN_OK : LLMC_RUN_CANCELLED;
}

uint32_t llmc_executor_run_work(llmc_run *run) {
  if (run->alone)
    return workAlone(run);
  struct worker self = {run->first_command, llmcTicks(), 0, 0};
  const uint32_t status = workWithOthers(run, &self);
  if (run->late)
    noteMost(run->late, self.late);
  return status;
}

void llmc_executor_run_cancel(llmc_run *run) {
  if (run)
    atomic_store(&run->cancelled, 1);
}
