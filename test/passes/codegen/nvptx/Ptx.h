// SPDX-License-Identifier: Apache-2.0
//
// Block programs as text to PTX. Without MLIR headers, so that tests are quick to build.
#pragma once

#include <string>

namespace llmc::nvptx::test {

/// Empty, with the diagnostics in `errors`, where a pass refuses. `lower` false: `source` holds a
/// gpu.module already.
std::string ptxOf(const std::string &source, std::string &errors, bool lower = true);

} // namespace llmc::nvptx::test
