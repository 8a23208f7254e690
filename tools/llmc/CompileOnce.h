// SPDX-License-Identifier: Apache-2.0
// A model that is compiled, opened, and whose file is removed again: for comparisons with a model
// that nobody has compiled.
#pragma once

#include "tools/llmc/LoadedModel.h"

namespace llmc::tool {

// Compiles `options.path` to float32 weights and caches, for sequences of up to `longest` tokens,
// with the llmc-compiler beside this program; its error is given back. The file lies in $TMPDIR
// (or /tmp) until it is open.
Result<LoadedModel> compileAndLoad(const ModelOptions &options, uint32_t longest);

} // namespace llmc::tool
