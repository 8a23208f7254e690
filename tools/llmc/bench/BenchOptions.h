// SPDX-License-Identifier: Apache-2.0
// What `llmc bench` was asked for, whether this machine and the model can do it, and what there is.
#pragma once

#include "llmc/llmc.h"
#include "tools/llmc/Options.h"

namespace llmc::tool {

// Processors that this program may use.
uint32_t processors();
// "mapped file" or "anonymous memory".
std::string kindOfMemory(const void *memory);

// Those that were asked for, or one entry: all processors.
std::vector<uint32_t> threadsOf(const BenchOptions &options);

// Before anything is measured; the errors name an option.
Status checkThreads(const BenchOptions &options);
// Refuses what was asked for and is too much for the model; lowers what was not.
Status fitSizes(BenchOptions &options, const llmc_model_info &info);

} // namespace llmc::tool
