// SPDX-License-Identifier: Apache-2.0
// See the header.
#include "test/tools/ptx-interpreter/Support.h"

#include "tools/ptx-interpreter/Parser.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace llmc::ptx::test {

std::string kernelText(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 data)\n{\n"
         ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<20>;\n.reg .b64 %d<20>;\n" +
         body + "\nret;\n}\n";
}

bool BodyRun::found(ReportKind kind) const {
  return std::any_of(result.reports.begin(), result.reports.end(),
                     [&](const Report &report) { return report.kind == kind; });
}

BodyRun runBody(const std::string &body, std::vector<uint32_t> words, RunOptions options) {
  BodyRun run;
  MachineOptions machineOptions;
  machineOptions.instructionBudget = options.budget;
  Machine machine(machineOptions);
  LoadedModule *module = machine.load(kernelText(body), "test.ptx", run.loadError);
  if (!module)
    return run;
  uint64_t data = machine.memory().allocate(words.size() * 4);
  machine.memory().write(data, words.data(), std::min(words.size(), options.initialised) * 4);
  std::vector<uint8_t> parameters;
  std::string error;
  const Kernel &kernel = module->module.kernels.front();
  EXPECT_TRUE(packParameters(kernel, {data}, parameters, error)) << error;
  LaunchShape shape;
  shape.grid[0] = options.blocks;
  shape.block[0] = options.threads;
  shape.dynamicSharedBytes = options.dynamicSharedBytes;
  run.result = machine.launch(*module, kernel, shape, parameters);
  run.words = std::move(words);
  machine.memory().read(data, run.words.data(), run.words.size() * 4);
  return run;
}

namespace {
std::string registerOf(unsigned bits, unsigned number) {
  return (bits == 1 ? "%p" : bits == 16 ? "%h" : bits == 64 ? "%d" : "%r") + std::to_string(number);
}
} // namespace

uint64_t evaluate(const std::string &form, unsigned resultBits, unsigned sourceBits,
                  std::initializer_list<uint64_t> sources) {
  std::string body = "ld.param.u64 %d10, [data];\n", list;
  unsigned number = 1;
  for (uint64_t value : sources) {
    std::string name = registerOf(sourceBits, number++);
    body +=
        "mov.b" + std::to_string(sourceBits) + " " + name + ", " + std::to_string(value) + ";\n";
    list += ", " + name;
  }
  std::string result = registerOf(resultBits, 0);
  body += form + " " + result + list + ";\n";
  if (resultBits == 1)
    body += "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%d10], %r0;\n";
  else
    body += "st.global.b" + std::to_string(resultBits) + " [%d10], " + result + ";\n";
  BodyRun run = runBody(body, {0, 0});
  EXPECT_EQ(run.loadError, "");
  EXPECT_TRUE(run.result.clean()) << run.result.error;
  return run.words.empty() ? 0 : run.words[0] | uint64_t(run.words[1]) << 32;
}

float evaluateFloat(const std::string &form, std::initializer_list<float> sources) {
  std::vector<uint64_t> cells;
  for (float value : sources)
    cells.push_back(floatCell(value));
  switch (cells.size()) {
  case 1:
    return asFloat(evaluate(form, 32, 32, {cells[0]}));
  case 2:
    return asFloat(evaluate(form, 32, 32, {cells[0], cells[1]}));
  default:
    return asFloat(evaluate(form, 32, 32, {cells[0], cells[1], cells[2]}));
  }
}

std::string bodyError(const std::string &body) {
  std::string error;
  parseModule(kernelText(body), "test.ptx", error);
  return error;
}

std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

} // namespace llmc::ptx::test
