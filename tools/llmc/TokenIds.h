// SPDX-License-Identifier: Apache-2.0
// Lists of token ids as text: "1,2,3"; spaces and line ends part ids as well.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>

namespace llmc::tool {

// 64 bits, so that what is far outside any vocabulary can still be named.
struct ParsedIds {
  std::vector<int64_t> ids; // may be empty
  std::string badPlace;     // "id 3", or "" when all are fine
  std::string badText;      // "found ..., expected ..."
};
ParsedIds parseIds(std::string_view text);

// All of a file, or of standard input for "-". `what` it should be, in words, for errors.
Result<std::string> readSmallFile(const std::string &path, const char *what);
inline Result<std::string> readIdsFile(const std::string &path) {
  return readSmallFile(path, "a list of token ids");
}

// "1,2,3"; "" for none.
std::string joinIds(const std::vector<int32_t> &ids);

} // namespace llmc::tool
