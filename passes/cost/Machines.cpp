// SPDX-License-Identifier: Apache-2.0
// The table of machines. CPUs: measured by programs of ours (registers only; 1 GiB read), on quiet
// virtual machines. GPUs: the makers' data sheets, dense, which kernels reach to 60 to 90 %.
#include "passes/cost/Machines.h"

namespace llmc::cost {

const char *name(Arithmetic arithmetic) {
  static constexpr const char *kNames[] = {"f32", "bf16", "int8"};
  return kNames[static_cast<int>(arithmetic)];
}

const std::vector<Machine> &machines() {
  static const std::vector<Machine> table = {
      {"zen4-1", "1 thread of an AMD Zen 4 VM, measured", 28e9, {117e9, 230e9, 467e9}},
      {"zen4-2", "2 threads of an AMD Zen 4 VM, measured", 33e9, {234e9, 457e9, 924e9}},
      {"zen5-1", "1 thread of an AMD Zen 5 VM, measured", 34e9, {222e9, 411e9, 889e9}},
      {"zen5-2", "2 threads of an AMD Zen 5 VM, measured", 65e9, {431e9, 788e9, 1735e9}},
      {"a100", "NVIDIA A100 80 GB, data sheet", 2.039e12, {19.5e12, 312e12, 624e12}},
      {"h200", "NVIDIA H200, data sheet", 4.8e12, {67e12, 990e12, 1979e12}},
  };
  return table;
}

const Machine *findMachine(std::string_view name) {
  for (const Machine &machine : machines())
    if (name == machine.name)
      return &machine;
  return nullptr;
}

} // namespace llmc::cost
