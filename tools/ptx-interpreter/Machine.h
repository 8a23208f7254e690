// SPDX-License-Identifier: Apache-2.0
// A make-believe device: memory, loaded modules, launches. One value a device; two machines know
// nothing of each other. Not for concurrent use (the driver table adds a lock).
#ifndef LLMC_TOOLS_PTX_INTERPRETER_MACHINE_H
#define LLMC_TOOLS_PTX_INTERPRETER_MACHINE_H

#include "tools/ptx-interpreter/Memory.h"
#include "tools/ptx-interpreter/Module.h"
#include "tools/ptx-interpreter/Report.h"

namespace llmc::ptx {

struct MachineOptions {
  uint64_t memoryBytes = uint64_t(16) << 30;      // most device memory in use at once
  uint64_t instructionBudget = uint64_t(1) << 30; // warp instructions a launch may take
};

struct LoadedModule {
  Module module;
  uint64_t globals = 0; // device address of the module's variables, 0 without any
};

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
};

struct LaunchResult {
  /// Refused before it began (bad shape or arguments); `error` says why.
  bool refused = false;
  /// Ran to its end. False when refused or when a finding ended it.
  bool completed = false;
  std::string error;
  std::vector<Report> reports;
  uint64_t droppedReports = 0;
  Counters counters;

  bool clean() const { return completed && reports.empty(); }
};

class Machine {
public:
  explicit Machine(MachineOptions options = {}) : options(options), global(options.memoryBytes) {}
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  /// Null, with `error` filled, when the text is refused. The machine owns the module until it is
  /// unloaded.
  LoadedModule *load(std::string_view text, const std::string &fileName, std::string &error);
  bool unload(LoadedModule *module);

  GlobalMemory &memory() { return global; }
  void setInstructionBudget(uint64_t instructions) { options.instructionBudget = instructions; }

  /// Runs a kernel with the bytes of its parameters, laid out as `kernel.parameters` says.
  LaunchResult launch(const LoadedModule &module, const Kernel &kernel, const LaunchShape &shape,
                      const std::vector<uint8_t> &parameters);

private:
  MachineOptions options;
  GlobalMemory global;
  std::vector<std::unique_ptr<LoadedModule>> modules;
};

/// Parameter bytes from one 64-bit value an argument; a value's low bytes are taken. Nothing fits
/// by-value structs here. False with a message when the number of values is wrong.
bool packParameters(const Kernel &kernel, const std::vector<uint64_t> &values,
                    std::vector<uint8_t> &bytes, std::string &error);

} // namespace llmc::ptx

#endif
