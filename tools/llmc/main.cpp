// SPDX-License-Identifier: Apache-2.0
// llmc: one program for everything. What compiles or interprets a model is handed to llmc-compiler
// beside it, because starting LLVM takes longer than opening a model; the rest runs here.
#include "tools/llmc/CommandLine.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/HandOver.h"

int main(int argc, char **argv) {
  if (llmc::tool::needsCompiler(argc, argv))
    return llmc::tool::becomeCompiler(argv);
  return llmc::tool::withOutput(llmc::tool::runCommandLine(argc, argv));
}
