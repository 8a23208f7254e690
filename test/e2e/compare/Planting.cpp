// SPDX-License-Identifier: Apache-2.0
#include "test/e2e/compare/Planting.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace llmc::test {

static std::string contents(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string scratch(const std::string &name) {
  return testing::TempDir() + "llmc-compare-" + std::to_string(getpid()) + "-" + name;
}

std::string compiled(CompileRequest request, const std::string &name) {
  request.output = scratch(name);
  auto summary = compile(request);
  EXPECT_TRUE(summary) << summary.error().str();
  return summary ? request.output : "";
}

std::string plant(CompileRequest request, const std::string &graph, const std::string &command,
                  KernelEdit edit) {
  request.emit = "tile";
  std::string printed = compiled(request, "tile.mlir");
  TileText text(contents(printed));
  if (edit) {
    KernelText kernel(text.kernelOf(graph, command));
    EXPECT_FALSE(kernel.text.empty()) << "no kernel of " << command;
    edit(kernel);
    EXPECT_TRUE(kernel.good) << "nothing to edit in:\n" << kernel.text;
    EXPECT_TRUE(text.setKernel(graph, command, kernel.text));
  } else {
    EXPECT_TRUE(text.setLastOperand(graph, command, "embed"));
  }
  std::ofstream(printed) << text.text;
  request.weights = request.input;
  request.input = printed;
  request.from = "tile";
  request.emit = "so";
  std::string model = compiled(request, "faulty.so");
  std::remove(printed.c_str());
  return model;
}

} // namespace llmc::test
