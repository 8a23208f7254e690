// SPDX-License-Identifier: Apache-2.0
//
// Compiles a tile kernel written as text, loads its object into this process, and runs it on plain
// arrays. Without MLIR headers, so that tests are quick to build.
#pragma once

#include "llmc/abi.h"
#include <memory>
#include <string>
#include <vector>

namespace llmc::cpu::test {

class CompiledKernels {
public:
  /// Compiles `source` for a level that this machine has, or reports a test failure.
  explicit CompiledKernels(const std::string &source, const std::string &level = "native");
  ~CompiledKernels();

  /// Runs programs [begin, end) of the kernel on `operands`.
  void run(const std::string &kernel, std::vector<void *> operands, uint32_t begin, uint32_t end);

  llmc_step step = {};

private:
  struct Linked;
  std::unique_ptr<Linked> linked;
};

struct CompileOptions {
  enum Kind { Object, Assembly, LLVMIR } kind = Object;
  std::string level = "native";
  std::string prefix;
  bool instrumentThreads = false;
};

/// What `source` becomes, or an empty string and the diagnostics in `errors`.
std::string compile(const std::string &source, const CompileOptions &options,
                    std::string *errors = nullptr);

/// The objects of `source` for native, made by one thread or by some.
std::vector<std::string> compileObjects(const std::string &source, bool withThreads, std::string *errors = nullptr);

/// Every level whose code can run here, "native" last.
std::vector<std::string> levelsHere();

/// Numbers from -1 to 1, the same on every run.
std::vector<float> randomFloats(size_t count, unsigned seed);

/// Units in the last place between `value` and the exact `expected`.
double ulps(float value, double expected);

/// How many of the elements differ in their bits.
size_t differences(const std::vector<float> &a, const std::vector<float> &b);

} // namespace llmc::cpu::test
