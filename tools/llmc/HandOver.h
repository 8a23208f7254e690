// SPDX-License-Identifier: Apache-2.0
// Hands commands that compile or interpret over to llmc-compiler, which is linked to LLVM.
#pragma once

#include <string>

namespace llmc::tool {

// The llmc-compiler beside this program, which need not be there.
std::string compilerPath();

// `compile`, `compare`, `run` with --reference, and `explain` of a model that is not compiled.
bool needsCompiler(int argc, char *const *argv);

// Becomes the llmc-compiler that lies beside this program, with the same arguments. Comes back only
// if that fails, with an exit code and the error printed.
int becomeCompiler(char *const *argv);

} // namespace llmc::tool
