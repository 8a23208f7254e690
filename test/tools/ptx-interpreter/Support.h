// SPDX-License-Identifier: Apache-2.0
// Small PTX texts as tests: wraps instructions into a kernel, runs it, hands back numbers and
// findings.
#ifndef LLMC_TEST_TOOLS_PTX_INTERPRETER_SUPPORT_H
#define LLMC_TEST_TOOLS_PTX_INTERPRETER_SUPPORT_H

#include "tools/ptx-interpreter/Machine.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace llmc::ptx::test {

/// A kernel `k` of the given body, with registers %p0-9 (pred), %h0-9 (b16), %r0-19 (b32), %d0-19
/// (b64) and one 64-bit parameter `data`.
std::string kernelText(const std::string &body);

/// One block of threads of kernelText(body) over `words` as `data`, of which the first
/// `initialised` are written.
struct BodyRun {
  LaunchResult result;
  std::vector<uint32_t> words;
  std::string loadError;

  bool found(ReportKind kind) const;
};
struct RunOptions {
  uint32_t blocks = 1;
  uint32_t threads = 1;
  size_t initialised = SIZE_MAX;
  uint64_t budget = 100000;
  uint32_t dynamicSharedBytes = 0;
};
BodyRun runBody(const std::string &body, std::vector<uint32_t> words, RunOptions options = {});

/// The result of one instruction: `form` names it, sources are cells. Types pick registers: the
/// result comes from a register of `resultBits`, sources sit in registers of `sourceBits`.
uint64_t evaluate(const std::string &form, unsigned resultBits, unsigned sourceBits,
                  std::initializer_list<uint64_t> sources);
inline uint32_t evaluate32(const std::string &form, std::initializer_list<uint64_t> sources) {
  return uint32_t(evaluate(form, 32, 32, sources));
}
/// The same for floats in and out.
float evaluateFloat(const std::string &form, std::initializer_list<float> sources);

/// The error of parsing a kernel of this body; empty when it is accepted.
std::string bodyError(const std::string &body);

std::string readFile(const std::string &path);

} // namespace llmc::ptx::test

#endif
