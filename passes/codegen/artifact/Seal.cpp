// SPDX-License-Identifier: Apache-2.0
// What is loaded before the weights lies in the plan's prefix: the hash needs nothing else, and the
// weights have hashes of their own.
#include "passes/codegen/artifact/Seal.h"

#include "llmc/abi.h"
#include "llmc/seal.h"

namespace llmc::artifact {
namespace {

int readPrefix(void *user, uint64_t offset, void *to, size_t bytes) {
  const std::string &prefix = *static_cast<std::string *>(user);
  if (offset > prefix.size() || bytes > prefix.size() - offset)
    return 0;
  memcpy(to, prefix.data() + offset, bytes);
  return 1;
}

// Loaded segments but the weights', which is the last.
uint32_t coveredLoads(const FilePlan &plan) {
  Elf64_Ehdr header;
  memcpy(&header, plan.prefix.data(), sizeof header);
  uint32_t loads = 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, plan.prefix.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    loads += segment.p_type == PT_LOAD;
  }
  return plan.weightsBytes ? loads - 1 : loads;
}

Status noSeal() {
  return errorAt("link", "",
                 std::string("found no note in section ") + kSealSection +
                     ", expected one that takes the seal; this is a fault of llmc or of the linker "
                     "it was built with");
}

} // namespace

std::string emptySealNote() {
  const llmc_seal_head head = {5, sizeof(llmc_seal), LLMC_SEAL_NOTE, "llmc"};
  const llmc_seal empty = {LLMC_ABI_VERSION, 0, 0};
  return std::string(reinterpret_cast<const char *>(&head), sizeof head) +
         std::string(reinterpret_cast<const char *>(&empty), sizeof empty);
}

Status seal(FilePlan &plan) {
  llmc_seal found;
  uint64_t place = 0, hash = 0;
  // The number of covered segments is hashed too, so it is put in before the hash is computed.
  if (llmc_seal_compute(readPrefix, &plan.prefix, &found, &place, &hash) != LLMC_SEAL_FOUND)
    return noSeal();
  const uint32_t covered = coveredLoads(plan);
  memcpy(plan.prefix.data() + place - offsetof(llmc_seal, hash) +
             offsetof(llmc_seal, covered_loads),
         &covered, sizeof covered);
  if (llmc_seal_compute(readPrefix, &plan.prefix, &found, &place, &hash) != LLMC_SEAL_FOUND)
    return noSeal();
  memcpy(plan.prefix.data() + place, &hash, sizeof hash);
  return {};
}

} // namespace llmc::artifact
