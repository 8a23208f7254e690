// SPDX-License-Identifier: Apache-2.0
//
// Compiles models for comparisons, sound ones and ones with a fault in one command.
#pragma once

#include "test/e2e/compare/TileText.h"
#include "tools/llmc/compiler/Compilation.h"

namespace llmc::test {

/// A path of this process alone.
std::string scratch(const std::string &name);

/// Compiles, and gives the path or "", a failure of the test.
std::string compiled(CompileRequest request, const std::string &name);

using KernelEdit = void (*)(KernelText &kernel);

/// Compiles `request` with an edited kernel in one command of one graph; without an edit the
/// command's last operand becomes the result of the embedding. "", a failure of the test, when it
/// could not be planted.
std::string plant(CompileRequest request, const std::string &graph, const std::string &command,
                  KernelEdit edit);

} // namespace llmc::test
