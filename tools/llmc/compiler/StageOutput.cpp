// SPDX-License-Identifier: Apache-2.0
//
// Text of a stage to a file or stdout.
#include "tools/llmc/compiler/StageOutput.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/codegen/artifact/OutputFile.h"

llmc::Status llmc::writeText(const std::string &path, llvm::StringRef text) {
  if (path == "-") {
    llvm::outs() << text;
    llvm::outs().flush();
    const std::error_code failure = llvm::outs().error();
    llvm::outs().clear_error(); // else its destructor reports it again, and exits
    return failure ? Status(errorAt("standard output", "", "cannot be written: " + failure.message())) : Status();
  }
  auto file = artifact::OutputFile::create(path, {});
  if (!file)
    return file.takeError();
  if (Status written = (*file)->write(text.data(), text.size()); !written.ok())
    return written;
  return (*file)->commit(text.size());
}
