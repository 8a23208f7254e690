// SPDX-License-Identifier: Apache-2.0
// A config.json alone, for commands that need a model's shape and no weights.
#pragma once

#include "frontends/huggingface/OpenFolder.h"

namespace llmc::huggingface {

// The config, and weights that have names, shapes and the config's element type ("dtype" or
// "torch_dtype"; f32 without one) but no values: reading them is an error that says so. The head is
// tied as the config says. A generation_config.json beside the file is read too.
Result<OpenedFolder> openConfigFile(const std::string &path);

} // namespace llmc::huggingface
