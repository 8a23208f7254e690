// SPDX-License-Identifier: Apache-2.0
// Reads the headers of a file that the test trusts.
#include "test/passes/codegen/artifact/ElfView.h"
#include "test/passes/codegen/artifact/ToyModel.h"

#include <cstring>

namespace llmc::artifact::test {

template <typename T>
static std::vector<T> table(const std::string &bytes, uint64_t offset, uint64_t count) {
  std::vector<T> items(count);
  memcpy(items.data(), bytes.data() + offset, count * sizeof(T));
  return items;
}

ElfView::ElfView(const std::string &path) : bytes(readFile(path)) {
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof header);
  sections = table<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr &item : sections)
    names.push_back(bytes.data() + sections[header.e_shstrndx].sh_offset + item.sh_name);
  for (const Elf64_Phdr &segment : table<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum))
    if (segment.p_type == PT_LOAD)
      loads.push_back(segment);
  const std::string strings = content(".dynstr"), symbols = content(".dynsym"),
                    entries = content(".dynamic");
  for (const Elf64_Dyn &entry : table<Elf64_Dyn>(entries, 0, entries.size() / sizeof(Elf64_Dyn)))
    if (entry.d_tag == DT_NEEDED)
      needed.push_back(strings.c_str() + entry.d_un.d_val);
  for (const Elf64_Sym &symbol : table<Elf64_Sym>(symbols, 0, symbols.size() / sizeof(Elf64_Sym)))
    if (symbol.st_name)
      (symbol.st_shndx == SHN_UNDEF ? undefined : exported)
          .push_back(strings.c_str() + symbol.st_name);
}

const Elf64_Shdr *ElfView::section(const std::string &name) const {
  for (size_t i = 0; i < sections.size(); ++i)
    if (names[i] == name)
      return &sections[i];
  return nullptr;
}

std::string ElfView::content(const std::string &name) const {
  const Elf64_Shdr *found = section(name);
  return found && found->sh_type != SHT_NOBITS ? bytes.substr(found->sh_offset, found->sh_size)
                                               : "";
}

} // namespace llmc::artifact::test
