// SPDX-License-Identifier: Apache-2.0
//
// Lookup and truncation of cached sequences.
#include "dialects/llm/reference/Caches.h"

namespace llmc::reference {

const CachedSequence *Caches::find(const std::string &cache, uint64_t sequence) const {
  auto sequences = contents.find(cache);
  if (sequences == contents.end())
    return nullptr;
  auto found = sequences->second.find(sequence);
  return found == sequences->second.end() ? nullptr : &found->second;
}

void Caches::truncate(uint64_t sequence, int64_t slots) {
  for (auto &[name, sequences] : contents) {
    auto found = sequences.find(sequence);
    if (found == sequences.end())
      continue;
    found->second.erase(found->second.lower_bound(slots), found->second.end());
    if (found->second.empty())
      sequences.erase(found);
  }
}

} // namespace llmc::reference
