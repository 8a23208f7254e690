// SPDX-License-Identifier: Apache-2.0
// Timed steps as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing show.
#pragma once

#include "tools/llmc/bench/CommandTimes.h"

namespace llmc::tool {

// Each step is a process of its own, starting at 0; commands that overlap are on several tracks.
Status writeTrace(const std::string &path, const std::vector<TimedStep> &steps);

} // namespace llmc::tool
