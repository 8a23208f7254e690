// SPDX-License-Identifier: Apache-2.0
//
// The commands of llmc-compiler. Each adds its subcommand to `app`; when it ran, `status` is the
// exit code.
#pragma once

#include "tools/llmc/compiler/Prompt.h"
#include <CLI/CLI.hpp>

namespace llmc {

void addCompileCommand(CLI::App &app, int &status);
void addReferenceCommand(CLI::App &app, int &status);
void addCompareCommand(CLI::App &app, int &status);
void addExplainCommand(CLI::App &app, int &status);

/// --prompt-ids and --prompt-ids-file.
void addPromptOptions(CLI::App &command, tool::PromptOptions &options);

} // namespace llmc
