/* SPDX-License-Identifier: Apache-2.0
 *
 * The command loop. A thread claims a chunk, waits until the commands that it needs are complete,
 * runs it, counts it. A thread goes on to the next command when no chunk of this one is left to
 * claim, so whoever waits waits for a chunk that some thread is working on: one thread alone
 * finishes a run, and helpers may come late or never. Of each command a thread takes its own share
 * first, neighbouring chunks in order, because weights read in one long stream come faster than in
 * pieces. A thread that is promised to be alone claims, waits and counts nothing. A thread that
 * loses its core in a chunk holds all; so helpers leave a run that loses too much time in this way.
 */
#include "runtime/executor/Executor.h"
#include "runtime/executor/Run.h"
#include "runtime/executor/cpu/Pause.h"

/* What a thread knows of itself. */
struct worker {
  uint32_t command; /* of its last claim */
  uint32_t share;   /* that it begins with */
  uint32_t helps;
  uint64_t came;  /* when it came */
  uint64_t since; /* when its last chunk ended, or when it came */
  uint64_t took;  /* ticks of its last chunk */
  uint64_t lost;  /* ticks that it waited while time was lost */
};

static void noteMost(uint64_t *most, uint64_t value) {
  uint64_t seen = __atomic_load_n(most, __ATOMIC_RELAXED);
  while (value > seen &&
         !__atomic_compare_exchange_n(most, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void noteLost(llmc_run *run, uint64_t lost) {
  uint64_t seen = atomic_load_explicit(&run->lost, memory_order_relaxed);
  while (lost > seen && !atomic_compare_exchange_weak_explicit(
                            &run->lost, &seen, lost, memory_order_relaxed, memory_order_relaxed))
    ;
  if (run->late)
    noteMost(run->late, lost);
}

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

/* One turn of a wait that has lasted `waited` ticks. True when time is being lost: this core has
 * more than one thread to run, or another thread is late: longer than two of this thread's chunks,
 * and then some. */
static int pauseIsLoss(const struct worker *self, uint64_t waited) {
  const uint64_t usual = LLMC_SPIN_TICKS + 2 * self->took;
  if (waited < usual) {
    llmcPauseCore();
    return 0;
  }
  if (waited < usual + LLMC_PATIENCE_TICKS)
    return llmcYieldCore();
  llmcNap();
  return 1;
}

/* False when the run was cancelled before the first `count` commands were complete. */
static int waitForCommands(llmc_run *run, struct worker *self, uint32_t count) {
  /* Looks at nothing newer than it needs, so that ThreadSanitizer sees a dependency that a command
   * table forgot. */
  if (atomic_load_explicit(&run->completed, memory_order_acquire) >= count)
    return 1;
  const uint64_t before = self->lost;
  int loses = 0;
  while (advanceCompleted(run) < count) {
    if (isCancelled(run))
      return 0;
    loses |= pauseIsLoss(self, llmcTicks() - self->since);
    if (!loses)
      continue;
    self->lost = before + (llmcTicks() - self->since);
    noteLost(run, self->lost); /* at once: whoever is late should know when it is back */
  }
  self->since = llmcTicks();
  return 1;
}

/* One addition, never repeated: numbers beyond the end of the share are claims of nothing. */
static int claimOfShare(llmc_run *run, uint32_t command, uint32_t share, uint32_t *chunk) {
  const uint64_t chunks = run->chunks[command];
  const uint32_t first = (uint32_t)(chunks * share / run->shares),
                 count = (uint32_t)(chunks * (share + 1) / run->shares) - first;
  _Atomic uint32_t *taken = &run->claims[command].taken[share];
  if (atomic_load_explicit(taken, memory_order_relaxed) >= count)
    return 0;
  const uint32_t claimed = atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
  *chunk = first + claimed;
  return claimed < count;
}

/* Its own share first, then what others have not begun. */
static int claimChunk(llmc_run *run, struct worker *self, uint32_t *chunk) {
  for (; self->command < run->end_command; ++self->command)
    for (uint32_t i = 0; i < run->shares; ++i) {
      const uint32_t share = self->share + i;
      if (claimOfShare(run, self->command, share < run->shares ? share : share - run->shares, chunk))
        return 1;
    }
  return 0;
}

static void noteBegin(uint64_t *begin, uint64_t now) {
  uint64_t seen = __atomic_load_n(begin, __ATOMIC_RELAXED);
  while ((!seen || now < seen) &&
         !__atomic_compare_exchange_n(begin, &seen, now, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
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
    for (uint32_t chunk = 0; chunk < run->chunks[command]; ++chunk) {
      if (isCancelled(run))
        return LLMC_RUN_CANCELLED;
      runChunk(run, command, chunk);
    }
  return LLMC_RUN_OK;
}

/* Better alone than to be held, or to hold the others, again and again. */
static int shouldLeave(llmc_run *run, const struct worker *self) {
  return self->helps && atomic_load_explicit(&run->lost, memory_order_relaxed) >
                            LLMC_LOST_TICKS + (self->since - self->came) / 4;
}

/* False when the run was cancelled. */
static int workOnChunks(llmc_run *run, struct worker *self) {
  uint32_t chunk;
  while (!isCancelled(run) && !shouldLeave(run, self) && claimChunk(run, self, &chunk)) {
    const int32_t dependency = run->graph->commands[self->command].dependency;
    if (dependency >= (int64_t)run->first_command &&
        !waitForCommands(run, self, (uint32_t)dependency + 1))
      return 0;
    runChunk(run, self->command, chunk);
    atomic_fetch_add_explicit(&run->done[self->command], 1, memory_order_release);
    const uint64_t now = llmcTicks();
    self->took = now - self->since;
    self->since = now;
  }
  return !isCancelled(run);
}

/* What was complete before it came has nothing to claim. */
static struct worker newWorker(llmc_run *run, uint32_t helps) {
  const uint64_t now = llmcTicks();
  const uint32_t number = atomic_fetch_add_explicit(&run->arrived, 1, memory_order_relaxed),
                 command = atomic_load_explicit(&run->completed, memory_order_relaxed);
  const struct worker worker = {command, number % run->shares, helps, now, now, 0, 0};
  return worker;
}

uint32_t llmc_executor_run_work(llmc_run *run) {
  if (run->alone)
    return workAlone(run);
  struct worker self = newWorker(run, 0);
  return workOnChunks(run, &self) && waitForCommands(run, &self, run->end_command)
             ? LLMC_RUN_OK
             : LLMC_RUN_CANCELLED;
}

void llmc_executor_run_help(llmc_run *run) {
  if (run->alone)
    return;
  struct worker self = newWorker(run, 1);
  workOnChunks(run, &self);
}

void llmc_executor_run_cancel(llmc_run *run) {
  if (run)
    atomic_store(&run->cancelled, 1);
}
