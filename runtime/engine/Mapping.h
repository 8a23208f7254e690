// SPDX-License-Identifier: Apache-2.0
// The memory that one shared object or program is mapped at, so that a table's pointers can be
// checked before they are followed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace llmc {

class Mapping {
public:
  // The loaded object that holds `address`; covers nothing if there is none.
  explicit Mapping(const void *address);

  bool holds(const void *begin, uint64_t bytes) const;
  template <typename T> bool holdsArray(const T *begin, uint64_t count) const {
    return count <= (UINT64_MAX / sizeof(T)) &&
           reinterpret_cast<uintptr_t>(begin) % alignof(T) == 0 && holds(begin, count * sizeof(T));
  }
  bool holdsString(const char *text) const;
  bool holdsCode(const void *function) const;

private:
  friend struct MappingSearch;
  struct Range {
    uintptr_t begin;
    uintptr_t end;
    bool executable;
  };
  static constexpr unsigned kMaxRanges = 64;
  const Range *find(uintptr_t address) const;

  Range ranges[kMaxRanges];
  unsigned count = 0;
};

} // namespace llmc
