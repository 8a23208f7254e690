// SPDX-License-Identifier: Apache-2.0
// Finds a loaded object's segments through the dynamic loader; works for what is linked into the
// program as well.
#include "runtime/engine/Mapping.h"
#include <cstring>
#include <link.h>

namespace llmc {

struct MappingSearch {
  Mapping &mapping;
  uintptr_t address;

  static int visit(dl_phdr_info *object, size_t, void *argument) {
    MappingSearch &search = *static_cast<MappingSearch *>(argument);
    Mapping &mapping = search.mapping;
    mapping.count = 0;
    for (unsigned i = 0; i < object->dlpi_phnum && mapping.count < Mapping::kMaxRanges; ++i) {
      const ElfW(Phdr) &segment = object->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_R))
        continue;
      const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
      mapping.ranges[mapping.count++] = {begin, begin + segment.p_memsz,
                                         (segment.p_flags & PF_X) != 0};
    }
    if (mapping.find(search.address))
      return 1;
    mapping.count = 0;
    return 0;
  }
};

Mapping::Mapping(const void *address) {
  MappingSearch search = {*this, reinterpret_cast<uintptr_t>(address)};
  dl_iterate_phdr(MappingSearch::visit, &search);
}

const Mapping::Range *Mapping::find(uintptr_t address) const {
  for (unsigned i = 0; i < count; ++i)
    if (address >= ranges[i].begin && address < ranges[i].end)
      return &ranges[i];
  return nullptr;
}

bool Mapping::holds(const void *begin, uint64_t bytes) const {
  if (!bytes)
    return true;
  const uintptr_t address = reinterpret_cast<uintptr_t>(begin);
  const Range *range = find(address);
  return range && bytes <= range->end - address;
}

bool Mapping::holdsString(const char *text) const {
  const uintptr_t address = reinterpret_cast<uintptr_t>(text);
  const Range *range = find(address);
  return range && memchr(text, '\0', range->end - address);
}

bool Mapping::holdsCode(const void *function) const {
  const Range *range = find(reinterpret_cast<uintptr_t>(function));
  return range && range->executable;
}

} // namespace llmc
