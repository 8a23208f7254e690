// SPDX-License-Identifier: Apache-2.0
// The executor's object, as bytes inside the compiler. LLMC_EXECUTOR_OBJECT, _BEGIN and _END are given by CMake.
        .section .rodata,"a",@progbits
        .hidden LLMC_EXECUTOR_BEGIN
        .globl  LLMC_EXECUTOR_BEGIN
        .balign 16
LLMC_EXECUTOR_BEGIN:
        .incbin LLMC_EXECUTOR_OBJECT
        .hidden LLMC_EXECUTOR_END
        .globl  LLMC_EXECUTOR_END
LLMC_EXECUTOR_END:
        .byte   0
        .section .note.GNU-stack,"",@progbits
