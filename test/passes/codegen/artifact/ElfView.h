// SPDX-License-Identifier: Apache-2.0
// What a test wants to know of a shared object, read with the system's elf.h alone.
#pragma once

#include <cstdint>
#include <elf.h>
#include <string>
#include <vector>

namespace llmc::artifact::test {

struct ElfView {
  explicit ElfView(const std::string &path);

  std::vector<Elf64_Phdr> loads;      // PT_LOAD, in file order
  std::vector<std::string> needed;    // DT_NEEDED
  std::vector<std::string> exported;  // defined dynamic symbols
  std::vector<std::string> undefined; // undefined dynamic symbols
  std::string bytes;

  const Elf64_Shdr *section(const std::string &name) const;
  std::string content(const std::string &name) const;

private:
  std::vector<Elf64_Shdr> sections;
  std::vector<std::string> names;
};

} // namespace llmc::artifact::test
