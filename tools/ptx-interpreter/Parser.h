// SPDX-License-Identifier: Apache-2.0
// PTX text to a Module. Anything not understood, down to a modifier, is an error that names the
// line and the kernel: `file:line: error: in kernel 'k': unsupported form '...'`.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_PARSER_H
#define LLMC_TOOLS_PTX_INTERPRETER_PARSER_H

#include "tools/ptx-interpreter/Module.h"

#include <optional>

namespace llmc::ptx {

/// Nothing, with `error` filled, when the text is refused. `fileName` is for messages only.
std::optional<Module> parseModule(std::string_view text, const std::string &fileName,
                                  std::string &error);

} // namespace llmc::ptx

#endif
