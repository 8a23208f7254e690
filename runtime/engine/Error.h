// SPDX-License-Identifier: Apache-2.0
// Fills the caller's error object. A failing function ends with `return fail(error, status, "place:
// error: ...", ...)`.
#pragma once

#include "llmc/llmc.h"

namespace llmc {

__attribute__((format(printf, 3, 4))) llmc_status fail(llmc_error *error, llmc_status status,
                                                       const char *format, ...);

// Text from a file or a caller with control bytes escaped and its length bounded, so that an error
// stays one line.
class Escaped {
public:
  explicit Escaped(const char *text);
  const char *text() const { return buffer; }

private:
  char buffer[240];
};

} // namespace llmc
