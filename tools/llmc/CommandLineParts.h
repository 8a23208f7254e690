// SPDX-License-Identifier: Apache-2.0
// What the files that declare options share. Included by the CommandLine files only, which are
// compiled with exceptions.
#pragma once

#include "tools/llmc/Options.h"

#include <CLI/App.hpp>
#include <functional>
#include <memory>

namespace llmc::tool {

// What a command does once its options are read.
using Body = std::function<Status()>;

constexpr uint32_t kMostThreads = 1024; // of a pool
constexpr uint32_t kMostTokens = 1u << 30;

// The group of options that are left out of the list: told at the end of the help, or for tests
// alone. CLI11's own nameless group would leave them out of errors too.
constexpr char kHiddenGroup[] = "Hidden";

void declareModel(CLI::App &app, ModelOptions &model);
void declareWeightsPlace(CLI::App &app, ModelOptions &model);
CLI::Option *declareCount(CLI::App &app, const char *name, uint32_t &value, const char *about,
                          uint32_t least, uint32_t most);
void declareThreads(CLI::App &app, ModelOptions &model);

Body declareBench(CLI::App &app);
Body declareRun(CLI::App &app);
Body declareEval(CLI::App &app);
Body declareTokenize(CLI::App &app);

} // namespace llmc::tool
