// SPDX-License-Identifier: Apache-2.0
// ELF headers and archive headers. The input comes from our own link; it is still checked, so that
// another linker's other habits become an error and not a broken file.
#include "passes/codegen/artifact/FilePlan.h"
#include "passes/codegen/artifact/TablesObject.h"

#include <cstring>
#include <elf.h>

namespace llmc::artifact {
namespace {

constexpr uint64_t kTailAlignment = 64;

uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

Error unexpected(const std::string &text) {
  return errorAt("link", "",
                 "found " + text + "; this is a fault of llmc or of the linker it was built with");
}

// The headers of an ELF file in memory, changed in place.
class Elf {
public:
  explicit Elf(std::string &bytes) : bytes(bytes) {}

  bool isSane() {
    if (bytes.size() < sizeof(Elf64_Ehdr) || memcmp(bytes.data(), ELFMAG, SELFMAG) ||
        header().e_ident[EI_CLASS] != ELFCLASS64)
      return false;
    return inside(header().e_shoff, uint64_t(header().e_shnum) * sizeof(Elf64_Shdr)) &&
           inside(header().e_phoff, uint64_t(header().e_phnum) * sizeof(Elf64_Phdr)) &&
           header().e_shstrndx < header().e_shnum;
  }
  Elf64_Ehdr &header() { return *at<Elf64_Ehdr>(0); }
  unsigned sections() { return header().e_shnum; }
  Elf64_Shdr &section(unsigned i) { return at<Elf64_Shdr>(header().e_shoff)[i]; }
  unsigned segments() { return header().e_phnum; }
  Elf64_Phdr &segment(unsigned i) { return at<Elf64_Phdr>(header().e_phoff)[i]; }

  Elf64_Shdr *find(const char *name) {
    const Elf64_Shdr &names = section(header().e_shstrndx);
    for (unsigned i = 1; i < sections(); ++i) {
      const uint64_t place = names.sh_offset + section(i).sh_name;
      if (inside(place, strlen(name) + 1) && !strcmp(bytes.data() + place, name))
        return &section(i);
    }
    return nullptr;
  }

private:
  bool inside(uint64_t offset, uint64_t size) const {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  }
  template <typename T> T *at(uint64_t offset) {
    return reinterpret_cast<T *>(bytes.data() + offset);
  }

  std::string &bytes;
};

// The weights' segment: the last that is loaded, holding their section alone, read-only.
Elf64_Phdr *weightsSegment(Elf &elf, const Elf64_Shdr &weights) {
  Elf64_Phdr *last = nullptr;
  for (unsigned i = 0; i < elf.segments(); ++i)
    if (elf.segment(i).p_type == PT_LOAD)
      last = &elf.segment(i);
  const bool good = last && last->p_offset == weights.sh_offset &&
                    last->p_vaddr == weights.sh_addr && last->p_filesz == weights.sh_size &&
                    last->p_memsz == weights.sh_size && last->p_flags == PF_R &&
                    last->p_offset % kSegmentAlignment == 0 &&
                    last->p_vaddr % kSegmentAlignment == 0;
  return good ? last : nullptr;
}

std::string padded(std::string text, size_t width) {
  text.resize(width, ' ');
  return text;
}

// One header of the common archive format; times and owners are zero, so equal models give equal
// bytes.
std::string memberHeader(const std::string &name, uint64_t size) {
  return padded(name, 16) + padded("0", 12) + padded("0", 6) + padded("0", 6) + padded("644", 8) +
         padded(std::to_string(size), 10) + "`\n";
}

} // namespace

Result<FilePlan> planSharedObject(std::string linked, uint64_t weightsBytes) {
  Elf elf(linked);
  if (!elf.isSane())
    return unexpected("a linked file whose headers lie outside it");
  if (!weightsBytes)
    return FilePlan{std::move(linked), 0, ""};
  Elf64_Shdr *weights = elf.find(weightsSection(WeightsPlace::LastSegment));
  Elf64_Phdr *segment = weights ? weightsSegment(elf, *weights) : nullptr;
  if (!segment || weights->sh_size != kPlaceholderBytes ||
      weights->sh_offset + weights->sh_size > linked.size())
    return unexpected("no aligned, read-only last segment for the weights");
  const uint64_t begin = weights->sh_offset, end = begin + kPlaceholderBytes;
  const uint64_t stretched = alignUp(weightsBytes, kTailAlignment);
  for (unsigned i = 0; i < elf.sections(); ++i)
    if (elf.section(i).sh_offset >= end)
      elf.section(i).sh_offset += stretched - kPlaceholderBytes;
  weights->sh_size = segment->p_filesz = segment->p_memsz = weightsBytes;
  if (elf.header().e_shoff < end)
    return unexpected("section headers before the weights");
  elf.header().e_shoff += stretched - kPlaceholderBytes;
  FilePlan plan;
  plan.suffix = std::string(stretched - weightsBytes, '\0') + linked.substr(end);
  linked.resize(begin);
  plan.prefix = std::move(linked);
  plan.weightsBytes = weightsBytes;
  return plan;
}

Result<FilePlan> planObject(std::string object, uint64_t weightsBytes) {
  Elf elf(object);
  if (!elf.isSane())
    return unexpected("a linked object whose headers lie outside it");
  if (!weightsBytes)
    return FilePlan{std::move(object), 0, ""};
  Elf64_Shdr *weights = elf.find(weightsSection(WeightsPlace::LargeSection));
  if (!weights || weights->sh_size != kPlaceholderBytes || weights->sh_flags & SHF_WRITE)
    return unexpected("no read-only section for the weights");
  weights->sh_offset = alignUp(object.size(), kTailAlignment);
  weights->sh_size = weightsBytes;
  object.resize(alignUp(object.size(), kTailAlignment), '\0');
  return FilePlan{std::move(object), weightsBytes, ""};
}

Result<FilePlan> planArchive(FilePlan object, const std::string &symbol) {
  const uint64_t size = object.fileBytes();
  if (size > 9999999999u)
    return errorAt("archive", "",
                   "found an object of " + std::to_string(size) +
                       " bytes, expected at most 9999999999 in an archive; write a .so, or use "
                       "--weights=separate");
  std::string index = std::string("\0\0\0\1", 4) + std::string(4, '\0') + symbol + '\0';
  if (index.size() % 2)
    index += '\0';
  std::string prefix = "!<arch>\n" + memberHeader("/", index.size());
  const uint64_t member =
      prefix.size() + index.size(); // where the member's header begins, big-endian in the index
  for (int i = 0; i < 4; ++i)
    index[4 + i] = char(member >> (24 - 8 * i));
  object.prefix = prefix + index + memberHeader("model.o/", size) + object.prefix;
  if (size % 2)
    object.suffix += '\n';
  return object;
}

uint64_t executableBytes(const std::string &bytes) {
  std::string copy = bytes;
  Elf elf(copy);
  uint64_t sum = 0;
  for (unsigned i = 0; elf.isSane() && i < elf.sections(); ++i)
    if (elf.section(i).sh_flags & SHF_EXECINSTR)
      sum += elf.section(i).sh_size;
  return sum;
}

} // namespace llmc::artifact
