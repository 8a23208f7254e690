// SPDX-License-Identifier: Apache-2.0
//
// The instruction-set levels that CPU kernels are generated for. A level's features are written out
// in full, on top of the baseline x86-64, so that the mask an artefact carries (LLMC_CPU_*) is all
// that its kernels can need.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc::cpu {

struct CpuLevel {
  std::string name;         // "x86-64-v3"
  std::string tuneFor;      // LLVM's name of the processor whose timings the scheduler uses
  std::string llvmFeatures; // "+avx2,+fma,..."
  uint64_t features = 0;    // LLMC_CPU_* bits of abi.h
  unsigned vectorBytes = 32;
  unsigned vectorRegisters = 16;
  unsigned streams = 1; ///< of packed weights that one thread reads fastest

  unsigned lanes() const { return vectorBytes / 4; }
  /// Four products of bytes in each 32-bit lane of a whole register, without saturation.
  bool hasByteDot() const;
};

/// The names that parseCpuLevel knows, least demanding first, "native" last.
std::vector<llvm::StringRef> cpuLevelNames();

/// The level called `name`; "native" is what this machine has. Else nothing, and `error` says why.
std::optional<CpuLevel> parseCpuLevel(llvm::StringRef name, std::string &error);

} // namespace llmc::cpu
