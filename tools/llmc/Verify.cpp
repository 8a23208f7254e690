// SPDX-License-Identifier: Apache-2.0
// Weights are hashed in the order of the table, then all together, zeros between them included.
#include "passes/codegen/artifact/Xxh64.h"
#include "runtime/engine/Inspect.h"
#include "tools/llmc/Format.h"
#include "tools/llmc/InspectParts.h"

namespace llmc::tool {
namespace {

uint64_t hashOf(const char *bytes, uint64_t size) {
  artifact::Xxh64 hash;
  hash.add(bytes, static_cast<size_t>(size));
  return hash.value();
}

Error differs(const std::string &path, const std::string &place, uint64_t found,
              uint64_t expected) {
  return errorAt(path, place,
                 formatted("found bytes of hash %016llx, expected %016llx; the file is damaged, "
                           "copy or compile it again",
                           static_cast<unsigned long long>(found),
                           static_cast<unsigned long long>(expected)));
}

} // namespace

Status verifyWeights(const LoadedModel &loaded) {
  const llmc_artifact &artifact = inspect::artifactOf(loaded.model.get());
  const char *bytes = static_cast<const char *>(inspect::weightsOf(loaded.model.get()));
  for (uint32_t i = 0; i < artifact.n_weights; ++i) {
    const llmc_weight &weight = artifact.weights[i];
    const uint64_t found = hashOf(bytes + weight.offset, weight.bytes);
    if (found != weight.hash)
      return differs(loaded.path, "weight " + escaped(weight.name), found, weight.hash);
  }
  const uint64_t all = hashOf(bytes, artifact.weights_bytes);
  if (all != artifact.weights_hash)
    return differs(loaded.path, "all weights", all, artifact.weights_hash);
  print(formatted("verified: %u weights, %s, hash %016llx\n", artifact.n_weights,
                  sizeInWords(artifact.weights_bytes).c_str(),
                  static_cast<unsigned long long>(all)));
  return {};
}

} // namespace llmc::tool
