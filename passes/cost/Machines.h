// SPDX-License-Identifier: Apache-2.0
// Named machines: read bandwidth and arithmetic peaks, for predictions about a machine that is not
// there. Plain numbers, no MLIR: `llmc explain` reads them without the compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmc::cost {

// What a region's inner loop multiplies.
enum class Arithmetic { F32, BF16, Int8 };
const char *name(Arithmetic arithmetic); // "f32", "bf16", "int8"

struct Machine {
  const char *name;
  const char *about;    // what it is, and where its figures come from
  double readBandwidth; // bytes a second, from memory
  double peak[3];       // FLOPs (or integer operations) a second, by Arithmetic

  double peakOf(Arithmetic arithmetic) const { return peak[static_cast<int>(arithmetic)]; }
  // FLOPs a byte from which arithmetic binds.
  double ridge(Arithmetic arithmetic) const { return peakOf(arithmetic) / readBandwidth; }
};

const std::vector<Machine> &machines();
// Null when there is none of that name.
const Machine *findMachine(std::string_view name);

} // namespace llmc::cost
