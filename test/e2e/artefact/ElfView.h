// SPDX-License-Identifier: Apache-2.0
//
// A whole ELF file in memory, as far as the tests of artefacts look into it.
#pragma once

#include <elf.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace llmc::test {

class ElfView {
public:
  explicit ElfView(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  template <typename T> const T *at(uint64_t offset) const {
    return reinterpret_cast<const T *>(bytes.data() + offset);
  }
  const Elf64_Ehdr &header() const { return *at<Elf64_Ehdr>(0); }
  std::vector<Elf64_Phdr> segments(uint32_t type) const {
    std::vector<Elf64_Phdr> found;
    for (int i = 0; i < header().e_phnum; ++i)
      if (at<Elf64_Phdr>(header().e_phoff)[i].p_type == type)
        found.push_back(at<Elf64_Phdr>(header().e_phoff)[i]);
    return found;
  }
  std::vector<Elf64_Shdr> sections() const {
    const Elf64_Shdr *first = at<Elf64_Shdr>(header().e_shoff);
    return {first, first + header().e_shnum};
  }
  std::string nameOf(const Elf64_Shdr &section) const {
    return at<char>(sections()[header().e_shstrndx].sh_offset) + section.sh_name;
  }
  std::vector<char> bytes;
};

} // namespace llmc::test
