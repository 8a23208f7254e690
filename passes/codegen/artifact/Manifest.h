// SPDX-License-Identifier: Apache-2.0
// The manifest: JSON for people about one artefact. Its length does not depend on any hash, so the
// file's layout is known before the weights are.
#pragma once

#include "passes/codegen/artifact/Pack.h"
#include "passes/codegen/artifact/TablesObject.h"

namespace llmc::artifact {

// What only the caller knows. The JSON texts may be empty: the key is left out.
struct ManifestParts {
  std::string
      source; // what was compiled, in words that do not depend on the machine: a folder's name
  std::string options; // JSON: the options of the compilation
  std::string cost;    // JSON: the cost table
};

Result<std::string> buildManifest(const Tables &tables, const std::vector<Level> &levels,
                                  const std::string &name, const std::string &weightsFile,
                                  const ManifestParts &parts, const PackReport &report);

// "avx2", "fma", ...: the LLMC_CPU_* bits in words.
std::vector<std::string> featureNames(uint64_t features);

} // namespace llmc::artifact
