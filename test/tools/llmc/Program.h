// SPDX-License-Identifier: Apache-2.0
// Runs the llmc program as a person would, and catches what it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmc::test {

struct Outcome {
  int code = -1; // 128 + signal where it was killed
  std::string out;
  std::string error;

  // The last line of `out`, without its end.
  std::string lastLine() const;
};

// `llmc` with these arguments, and `input` on its standard input.
Outcome llmc(const std::vector<std::string> &arguments, std::string_view input = "");
// Any program. `prefix` is shell text before it, for example a ulimit.
Outcome runProgram(const std::string &program, const std::vector<std::string> &arguments,
                   std::string_view input = "", const std::string &prefix = "");

std::string demoPath(const std::string &name = "demo");
std::string readFile(const std::string &path);
bool contains(std::string_view text, std::string_view part);

} // namespace llmc::test
