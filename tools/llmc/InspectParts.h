// SPDX-License-Identifier: Apache-2.0
// Parts of what `llmc inspect` shows; each prints to stdout.
#pragma once

#include "llmc/abi.h"
#include "tools/llmc/LoadedModel.h"

namespace llmc::tool {

Status printCommands(const LoadedModel &loaded, const std::string &graph);

// Fails at the first weight whose bytes do not have the hash that its table states.
Status verifyWeights(const LoadedModel &loaded);

} // namespace llmc::tool
