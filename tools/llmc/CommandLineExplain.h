// SPDX-License-Identifier: Apache-2.0
// The options of `llmc explain`. Included by files that are compiled with exceptions, of llmc and
// of llmc-compiler.
#pragma once

#include "tools/llmc/Explain.h"
#include <CLI/App.hpp>

namespace llmc::tool {

// `options` must live as long as the app. The model is the positional IN.
void declareExplainOptions(CLI::App &app, ExplainOptions &options);

} // namespace llmc::tool
