// SPDX-License-Identifier: Apache-2.0
//
// MLIR's parser recurses into brackets, and makes room for as many results as a number behind '#' says.
#pragma once

#include "dialects/model/Error.h"
#include <string>

namespace llmc {

/// Refuses IR that would end the process while it is parsed. A file that cannot be read is left to the parser.
Status checkNesting(const std::string &file);

} // namespace llmc
