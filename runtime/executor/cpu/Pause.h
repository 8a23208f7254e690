/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread can do while another finishes: look again at once, offer its core to others, sleep
 * for a moment. System calls are made directly, since an artefact calls nothing in libc.
 */
#ifndef LLMC_EXECUTOR_CPU_PAUSE_H
#define LLMC_EXECUTOR_CPU_PAUSE_H

#include <stdint.h>

/* Ticks of the time stamp counter, which counts 1 to 5 in a nanosecond. */
#define LLMC_SPIN_TICKS ((uint64_t)1 << 17)   /* tens of microseconds; healthy waits are shorter */
#define LLMC_SHARED_TICKS ((uint64_t)1 << 13) /* a longer yield let another thread run */
#define LLMC_PATIENCE_TICKS ((uint64_t)1 << 19) /* after 0.1 to 0.5 milliseconds one is late */
#define LLMC_LOST_TICKS ((uint64_t)1 << 22)     /* 1 to 4 milliseconds, which a run may lose so */
#define LLMC_NAP_NANOSECONDS 20000              /* about 80 microseconds with the kernel's slack */

static inline uint64_t llmcTicks(void) { return __builtin_ia32_rdtsc(); }

static inline void llmcPauseCore(void) { __builtin_ia32_pause(); }

/* True when another thread had the core meanwhile. */
static inline int llmcYieldCore(void) {
  const uint64_t begin = llmcTicks();
  long result = 24; /* sched_yield */
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return llmcTicks() - begin > LLMC_SHARED_TICKS;
}

/* Leaves the core idle, so that the kernel brings a thread here that waits for another core. */
static inline void llmcNap(void) {
  const struct { int64_t seconds, nanoseconds; } length = {0, LLMC_NAP_NANOSECONDS};
  long result = 35; /* nanosleep */
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(&length), "S"((void *)0)
                   : "rcx", "r11", "memory");
}

#endif
