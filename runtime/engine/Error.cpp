// SPDX-License-Identifier: Apache-2.0
// Status names and error lines.
#include "runtime/engine/Error.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace llmc {

llmc_status fail(llmc_error *error, llmc_status status, const char *format, ...) {
  if (!error || error->struct_size <= offsetof(llmc_error, message))
    return status;
  size_t capacity = error->struct_size - offsetof(llmc_error, message);
  if (capacity > LLMC_ERROR_BYTES)
    capacity = LLMC_ERROR_BYTES;
  error->status = status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, capacity, format, arguments);
  va_end(arguments);
  return status;
}

Escaped::Escaped(const char *text) {
  size_t used = 0;
  for (const char *c = text ? text : "(none)"; *c; ++c) {
    if (used + 8 > sizeof buffer) { // Room for one escape, three dots and the NUL.
      memcpy(buffer + used, "...", 3);
      used += 3;
      break;
    }
    const unsigned char byte = static_cast<unsigned char>(*c);
    if (byte < 0x20 || byte == 0x7f)
      used += static_cast<size_t>(snprintf(buffer + used, sizeof buffer - used, "\\x%02x", byte));
    else
      buffer[used++] = *c;
  }
  buffer[used] = '\0';
}

} // namespace llmc

extern "C" const char *llmc_status_name(llmc_status status) {
  switch (status) {
  case LLMC_OK:
    return "ok";
  case LLMC_INVALID_ARGUMENT:
    return "invalid argument";
  case LLMC_OUT_OF_MEMORY:
    return "out of memory";
  case LLMC_NOT_FOUND:
    return "not found";
  case LLMC_BAD_ARTIFACT:
    return "bad artifact";
  case LLMC_BAD_VERSION:
    return "bad version";
  case LLMC_UNSUPPORTED_CPU:
    return "unsupported processor";
  case LLMC_SESSION_FULL:
    return "session full";
  case LLMC_CANCELLED:
    return "cancelled";
  case LLMC_BUSY:
    return "busy";
  case LLMC_SYSTEM_ERROR:
    return "system error";
  case LLMC_TOO_SMALL:
    return "buffer too small";
  case LLMC_NO_TOKENIZER:
    return "no tokenizer";
  }
  return "unknown status";
}
