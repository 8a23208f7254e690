// SPDX-License-Identifier: Apache-2.0
//
// llmc-compiler: the commands of llmc that load LLVM. `llmc` starts it with its own arguments;
// people call `llmc`.
#include "tools/llmc/Format.h"
#include "tools/llmc/compiler/Commands.h"
#include <cstdio>

namespace {

/// CLI11 starts with a capital and may say more in further lines.
std::string lineOf(const CLI::App &app, const CLI::ParseError &error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) // but not IN
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  std::string command = "llmc";
  for (const CLI::App *chosen : app.get_subcommands())
    command += " " + chosen->get_name();
  return command + ": error: " + llmc::escaped(text, 1000) + "; see '" + command + " --help'";
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Ahead-of-time compiler for LLM inference.", "llmc"};
  app.require_subcommand(1);
  int status = 0;
  llmc::addCompileCommand(app, status);
  llmc::addReferenceCommand(app, status);
  llmc::addCompareCommand(app, status);
  llmc::addExplainCommand(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return llmc::tool::withOutput(app.exit(help));
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "%s\n", lineOf(app, error).c_str());
    return 2;
  }
  return llmc::tool::withOutput(status);
}
