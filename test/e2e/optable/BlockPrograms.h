// SPDX-License-Identifier: Apache-2.0
//
// Block programs as text, run on the CPU and, from the same text, as PTX on the interpreter. For
// kernels that no stage of the compiler makes yet.
#pragma once

#include "test/passes/codegen/cpu/KernelHarness.h"
#include <cstdint>
#include <string>
#include <vector>

namespace llmc::test {

/// What a kernel's parameters point to, in their order: 32-bit elements, those of f32 by their
/// bits.
using Buffers = std::vector<std::vector<uint32_t>>;

std::vector<uint32_t> asBits(const std::vector<float> &floats);
std::vector<float> asFloats(const std::vector<uint32_t> &bits);
/// Of a buffer that a kernel has to fill.
constexpr uint32_t kNaN = 0x7fc00000;

class BlockPrograms {
public:
  /// Compiles `source` for both targets, or reports a test failure.
  explicit BlockPrograms(const std::string &source);

  /// Of all kernels.
  const std::string &ptx() const { return ptxText; }

  /// What programs [0, programs) leave in the buffers, in a step of `rows` rows.
  Buffers runOnCpu(const std::string &kernel, Buffers buffers, uint32_t programs,
                   uint32_t rows = 1);
  /// The same with `ptx`, which is the programs' own or a mutation of it; `error` where it did not
  /// run clean.
  static Buffers runPtx(const std::string &ptx, const std::string &kernel, Buffers buffers,
                        uint32_t programs, std::string &error, uint32_t rows = 1);

private:
  cpu::test::CompiledKernels kernels;
  std::string ptxText;
};

} // namespace llmc::test
