// SPDX-License-Identifier: Apache-2.0
// Tokenizers' patterns are written for Oniguruma; the runtime has PCRE2. Most of the two languages
// is the same; this rewrites what is not, and refuses what has no counterpart.
#pragma once

#include "dialects/model/Error.h"

namespace llmc::tokenizer {

// `pattern` in PCRE2's syntax. `place` names it in an error: "FILE: PLACE".
Result<std::string> fromOniguruma(std::string_view pattern, std::string_view file,
                                  std::string_view place);

} // namespace llmc::tokenizer
