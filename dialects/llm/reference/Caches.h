// SPDX-License-Identifier: Apache-2.0
//
// Keys and values of the reference: by cache symbol, sequence and slot, without pages. A slot that
// was never written is absent, so reading one is an error and not a number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llmc::reference {

/// What one slot of one cache holds: all heads, one after the other.
struct CachedRow {
  std::vector<float> key;
  std::vector<float> value;
};

/// The slots of one sequence in one cache.
using CachedSequence = std::map<int64_t, CachedRow>;

class Caches {
public:
  void write(const std::string &cache, uint64_t sequence, int64_t slot, CachedRow row) {
    contents[cache][sequence][slot] = std::move(row);
  }
  /// Null when nothing was written there.
  const CachedSequence *find(const std::string &cache, uint64_t sequence) const;

  /// Forgets slots `slots`, `slots + 1`, ... of the sequence in every cache; 0 forgets the
  /// sequence.
  void truncate(uint64_t sequence, int64_t slots);

private:
  std::map<std::string, std::map<uint64_t, CachedSequence>> contents;
};

} // namespace llmc::reference
