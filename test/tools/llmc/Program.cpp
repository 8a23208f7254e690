// SPDX-License-Identifier: Apache-2.0
// Through the shell, with files for all three streams, so that no pipe can fill.
#include "test/tools/llmc/Program.h"
#include "test/frontends/Support.h"
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

namespace llmc::test {
namespace {

std::string quoted(const std::string &text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

} // namespace

std::string Outcome::lastLine() const {
  std::string text = out;
  if (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Outcome runProgram(const std::string &program, const std::vector<std::string> &arguments,
                   std::string_view input, const std::string &prefix) {
  TemporaryFolder folder;
  folder.write("in", input);
  std::string command = prefix + " exec " + quoted(program);
  for (const std::string &argument : arguments)
    command += " " + quoted(argument);
  command = "{ " + command + "; } <" + quoted(folder.file("in")) + " >" +
            quoted(folder.file("out")) + " 2>" + quoted(folder.file("error"));
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = readFile(folder.file("out"));
  outcome.error = readFile(folder.file("error"));
  return outcome;
}

Outcome llmc(const std::vector<std::string> &arguments, std::string_view input) {
  return runProgram(LLMC_PROGRAM, arguments, input);
}

std::string demoPath(const std::string &name) { return DEMO_FOLDER "/" + name + ".so"; }

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace llmc::test
