// SPDX-License-Identifier: Apache-2.0
//
// llmc-compiler: the commands of llmc that load LLVM. `llmc` starts it with its own arguments; people call `llmc`.
#include "tools/llmc/compiler/Commands.h"

int main(int argc, char **argv) {
  CLI::App app{"llmc: ahead-of-time compiler for LLM inference"};
  app.require_subcommand(1);
  int status = 0;
  llmc::addCompileCommand(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return status;
}
