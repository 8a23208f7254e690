// SPDX-License-Identifier: Apache-2.0
// Which core a thread runs on, and going to another. Threads are not pinned: one that is pinned to
// a core that another process takes could not move. But where all cores have something to do, the
// kernel may wake a helper on the very core of the thread that it should help, and leave it there
// for long.
#pragma once

namespace llmc {

// Costs no system call where the C library or the kernel's page of functions knows it.
int currentCore();

// Has the calling thread run elsewhere, if it may; where it may run is the same afterwards.
void moveOffCore(int core);

} // namespace llmc
