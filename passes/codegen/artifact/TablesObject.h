// SPDX-License-Identifier: Apache-2.0
// The tables as an object file: one constant `llmc_artifact` and all that it points to, and the
// query function. Constants only, so the linked artefact has no writable data but what relocation
// needs.
#pragma once

#include "dialects/model/Error.h"
#include "passes/codegen/artifact/Tables.h"

#include <string>
#include <string_view>
#include <vector>

namespace llmc::artifact {

// One compiled set of all kernels. Kernel `k` of the tables is the function `prefix + k` in
// one of `objects`.
struct Level {
  std::string name;      // "x86-64-v3"
  std::string cpu;       // what it was tuned for
  uint64_t features = 0; // LLMC_CPU_* bits that it needs
  std::string prefix;    // different for each level
  std::vector<std::string> objects; // bytes of relocatable ELF objects
};

// Where the weights of the object are.
enum class WeightsPlace {
  None,        // a separate file, or no weights at all
  LastSegment, // section .llmc.weights: the linker gives it a segment of its own
  LargeSection // section .lrodata.llmc: linkers keep it away from code
};

struct ObjectRequest {
  const Tables &tables;
  const WeightHashes &hashes;
  const std::vector<Level> &levels; // least demanding first
  std::string_view name;            // of --name, or empty
  std::string_view manifest;
  std::string_view weightsFile; // name of the separate file, or empty
  std::string_view tokenizer;   // tables of llmc/tokenizer_abi.h, or empty
  WeightsPlace weights;
  bool sealed = false; // with a note for the seal of a shared object
};

// "llmc_query", or "NAME_llmc_query" where a name was given.
std::string querySymbol(std::string_view name);
// The section for the weights. It holds kPlaceholderBytes zeros that the file writer replaces.
const char *weightsSection(WeightsPlace place);
constexpr uint64_t kPlaceholderBytes = 64;
constexpr uint64_t kSegmentAlignment = uint64_t(2) << 20;
constexpr uint64_t kSectionAlignment = 4096;

// Bytes of a relocatable ELF object for x86-64. It refers to kernels and to llmc_executor_*.
Result<std::string> writeTablesObject(const ObjectRequest &request);

} // namespace llmc::artifact
