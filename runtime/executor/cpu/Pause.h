/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread does while another finishes: ever longer pauses, then it offers its core to others.
 * The system call is made directly, since an artefact calls nothing in libc.
 */
#ifndef LLMC_EXECUTOR_CPU_PAUSE_H
#define LLMC_EXECUTOR_CPU_PAUSE_H

#include <stdint.h>

/* Turns with 1, 2, 4 ... 64 pauses; some microseconds in all, longer than any healthy wait between
 * two commands. */
#define LLMC_PAUSE_DOUBLINGS 6u
#define LLMC_PAUSE_TURNS 64u

static inline void llmcYieldCore(void) {
  long result = 24; /* sched_yield */
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
}

static inline void llmcPause(uint32_t turn) {
  if (turn >= LLMC_PAUSE_TURNS) {
    llmcYieldCore();
    return;
  }
  const uint32_t doublings = turn < LLMC_PAUSE_DOUBLINGS ? turn : LLMC_PAUSE_DOUBLINGS;
  for (uint32_t i = 0; i < (1u << doublings); ++i)
    __asm__ volatile("pause");
}

#endif
