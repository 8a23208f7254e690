// SPDX-License-Identifier: Apache-2.0
//
// Ways to run one command of a compiled case on memory of this process: the CPU's kernels, linked
// into this process; the PTX on the interpreter, behind the CUDA driver's function table.
#pragma once

#include "test/e2e/optable/CompiledCase.h"
#include <memory>

namespace llmc::test {

/// What a session would lend.
struct CaseMemory {
  explicit CaseMemory(const CompiledCase &compiled);
  /// Where an operand of the graph lies.
  float *place(const llmc_operand &operand);

  uint32_t maxRows, maxOutputs;
  std::vector<float> rows, outputs, weights, kv;
};

class Runner {
public:
  virtual ~Runner() = default;
  /// False, and what was reported in `error`, where the command did not run clean.
  virtual bool run(const llmc_command &command, CaseMemory &memory, std::string &error) = 0;
};

std::unique_ptr<Runner> cpuRunner(const CompiledCase &compiled,
                                  const std::string &level = "native");
/// Runs `ptx`, which is the case's own or a mutation of it.
std::unique_ptr<Runner> ptxRunner(const CompiledCase &compiled, const std::string &ptx);

struct Judgement {
  std::vector<std::string> findings; ///< one line for each command that fails, differs by more than
                                     ///< the bound, or writes elsewhere
  double largestError = 0;           ///< of the commands that ran
  std::vector<float> written;        ///< by all of them, one after the other
};

/// Runs every command on inputs from the reference and compares what it wrote with what the
/// reference gives. Caches alone are the runner's own, and scales of rows in groups.
Judgement judge(const CompiledCase &compiled, Runner &runner, double bound);

} // namespace llmc::test
