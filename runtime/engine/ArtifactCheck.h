// SPDX-License-Identifier: Apache-2.0
// Checks everything that an artefact's root table leads to, before anything follows it: pointers
// inside the artefact's memory, indices inside their tables, operands inside their arenas. Executor
// and sessions rely on it and check no table again.
#pragma once

#include "llmc/abi.h"
#include "llmc/llmc.h"
#include "runtime/engine/Mapping.h"

namespace llmc {

// Whether the root table has run_help. Older ones end before it; run_work does the same for longer.
inline bool hasHelp(const llmc_artifact &artifact) {
  return artifact.struct_size >= sizeof(llmc_artifact);
}

// Where a fault is reported; `file` is the path, or a word for a linked model.
struct CheckPlace {
  const char *file;
  const Mapping &mapping;
  llmc_error *error;
};

llmc_status checkArtifact(const CheckPlace &place, const llmc_artifact *artifact);

// Called by the above for each graph.
llmc_status checkGraph(const CheckPlace &place, const llmc_artifact &artifact, uint32_t index);

} // namespace llmc
