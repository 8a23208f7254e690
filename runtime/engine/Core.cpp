// SPDX-License-Identifier: Apache-2.0
// A thread moves when it is forbidden its core, and need not move back when it is allowed again.
#include "runtime/engine/Core.h"
#include <sched.h>

namespace llmc {

int currentCore() { return sched_getcpu(); }

void moveOffCore(int core) {
  cpu_set_t allowed;
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed))
    return; // more cores than this set can name: nothing is lost but the move
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof others, &others))
    sched_setaffinity(0, sizeof allowed, &allowed);
}

} // namespace llmc
