// RUN: not llmc-opt %s --llmc-lower-tile-to-cpu="level=x86-64-v9" 2>&1 | FileCheck %s
// CHECK: error: unknown CPU level 'x86-64-v9', expected x86-64-v3, x86-64-v4, x86-64-v4+vnni+bf16, native
module {}
