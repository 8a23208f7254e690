/* SPDX-License-Identifier: Apache-2.0
 *
 * The processor's LLMC_CPU_* bits. A bit counts only when the operating system saves the registers
 * that it needs.
 */
#include "runtime/executor/Executor.h"
#include <cpuid.h>

enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6 };

static uint64_t enabledRegisters(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t)high << 32) | low;
}

static uint64_t pick(uint32_t word, uint32_t bit, uint64_t feature) {
  return (word >> bit) & 1 ? feature : 0;
}

uint64_t llmc_executor_cpu_features(void) {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !((c >> 27) & 1)) /* bit 27: xgetbv may be used */
    return 0;
  const uint64_t registers = enabledRegisters();
  if ((registers & XCR0_AVX) != XCR0_AVX)
    return 0;
  uint64_t features = pick(c, 12, LLMC_CPU_FMA) | pick(c, 29, LLMC_CPU_F16C);
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return features;
  features |= pick(b, 5, LLMC_CPU_AVX2) | pick(b, 8, LLMC_CPU_BMI2);
  if ((registers & XCR0_AVX512) != XCR0_AVX512)
    return features;
  features |= pick(b, 16, LLMC_CPU_AVX512F) | pick(b, 17, LLMC_CPU_AVX512DQ) |
              pick(b, 28, LLMC_CPU_AVX512CD) | pick(b, 30, LLMC_CPU_AVX512BW) |
              pick(b, 31, LLMC_CPU_AVX512VL) | pick(c, 11, LLMC_CPU_AVX512VNNI);
  if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
    features |= pick(a, 5, LLMC_CPU_AVX512BF16);
  return features;
}
