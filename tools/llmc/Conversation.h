// SPDX-License-Identifier: Apache-2.0
// `llmc run` without a prompt: a conversation, a line a message, through the model's chat template.
#pragma once

#include "tools/llmc/LoadedModel.h"

namespace llmc::tool {

// Until the input ends. Ctrl-C ends the answer that is being written, not the program.
Status converse(const RunOptions &options, const LoadedModel &loaded);

} // namespace llmc::tool
