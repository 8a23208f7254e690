// SPDX-License-Identifier: Apache-2.0
//
// The commands of llmc-compiler. Each adds its subcommand to `app`; when it ran, `status` is the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace llmc {

void addCompileCommand(CLI::App &app, int &status);
void addReferenceCommand(CLI::App &app, int &status);

} // namespace llmc
