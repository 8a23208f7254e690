// SPDX-License-Identifier: Apache-2.0
// Lists of token ids as text: "1,2,3"; spaces and line ends part ids as well.
#pragma once

#include "dialects/model/Error.h"
#include <cstdint>

namespace llmc::tool {

// 64 bits, so that what is far outside any vocabulary can still be named. The error is a text
// without a file: "id 3: found ..., expected ...". An empty list is fine.
Result<std::vector<int64_t>> parseIds(std::string_view text);
// All of a file, or of standard input for "-".
Result<std::string> readIdsFile(const std::string &path);

// "1,2,3"; "" for none.
std::string joinIds(const std::vector<int32_t> &ids);

} // namespace llmc::tool
