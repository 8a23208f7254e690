/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread does while another finishes: it looks again at once, then offers its core to
 * others, then sleeps for moments. System calls are made directly, since an artefact calls nothing
 * in libc.
 */
#ifndef LLMC_EXECUTOR_CPU_PAUSE_H
#define LLMC_EXECUTOR_CPU_PAUSE_H

#include <stdint.h>

/* Ticks of the time stamp counter, which counts 1 to 5 in a nanosecond. */
#define LLMC_SPIN_TICKS ((uint64_t)1 << 17)     /* tens of microseconds: a healthy wait is shorter */
#define LLMC_PATIENCE_TICKS ((uint64_t)1 << 19) /* after 100 to 500 microseconds one is late */
#define LLMC_NAP_NANOSECONDS 20000              /* about 80 microseconds with the kernel's slack */

static inline uint64_t llmcTicks(void) { return __builtin_ia32_rdtsc(); }

static inline void llmcYieldCore(void) {
  long result = 24; /* sched_yield */
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
}

/* Leaves the core idle, so that the kernel brings a thread here that waits for another core. */
static inline void llmcNap(void) {
  const struct {
    int64_t seconds, nanoseconds;
  } length = {0, LLMC_NAP_NANOSECONDS};
  long result = 35; /* nanosleep */
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(&length), "S"((void *)0)
                   : "rcx", "r11", "memory");
}

static inline void llmcPause(uint64_t waited, uint64_t patience) {
  if (waited < LLMC_SPIN_TICKS)
    __builtin_ia32_pause();
  else if (waited < patience)
    llmcYieldCore();
  else
    llmcNap();
}

#endif
