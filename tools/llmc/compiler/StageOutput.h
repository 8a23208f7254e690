// SPDX-License-Identifier: Apache-2.0
//
// Text of a stage to a file or stdout: whole or not at all.
#pragma once

#include "dialects/model/Error.h"
#include "llvm/ADT/StringRef.h"

namespace llmc {

/// "-" is stdout. A file is written under a temporary name and renamed.
Status writeText(const std::string &path, llvm::StringRef text);

} // namespace llmc
