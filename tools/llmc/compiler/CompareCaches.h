// SPDX-License-Identifier: Apache-2.0
//
// Keys and values as they lie in the compiled side's pages.
#pragma once

#include "dialects/llm/reference/Caches.h"
#include "runtime/engine/Inspect.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llmc::compare {

/// The sequences of a session, each with the handle that the reference knows it by: its index.
using SequenceList = std::vector<llmc_sequence *>;

/// The row that `slot` of a cache holds.
reference::CachedRow readRow(const llmc_cache &cache, const llmc_sequence *sequence, int64_t slot);

/// All pages of some sequences at one moment.
class PagesCopy {
public:
  PagesCopy(const llmc_artifact &artifact, const SequenceList &sequences);

  /// What has changed since and is not in `slots` (sequence, slot) of cache `own`, in words:
  /// "layers.0.kv, keys, head 1 of slot 7 of sequence 0"; nothing when all else is as it was.
  std::optional<std::string>
  changedElsewhere(uint32_t own, const std::vector<std::pair<uint64_t, int64_t>> &slots) const;

private:
  std::string placeOf(uint64_t at, uint64_t sequence, uint32_t chunk, uint32_t own,
                      const std::vector<std::pair<uint64_t, int64_t>> &slots) const;

  const llmc_artifact &artifact;
  const SequenceList &sequences;
  std::vector<std::vector<std::vector<char>>> chunks; ///< [sequence][chunk]
};

} // namespace llmc::compare
