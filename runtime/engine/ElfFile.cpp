// SPDX-License-Identifier: Apache-2.0
// The checks of an ELF file, from its identification to its seal, each reading no more than the
// one before allows.
#include "runtime/engine/ElfFile.h"
#include "llmc/seal.h"
#include "runtime/engine/Error.h"
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc {
namespace {

constexpr unsigned kMaxSegments = 64;
constexpr uint64_t kPageBytes = 4096;

class File {
public:
  // Without waiting: a FIFO has no end to wait for.
  explicit File(const char *path) : descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  bool isOpen() const { return descriptor >= 0; }
  bool status(struct stat *result) const { return fstat(descriptor, result) == 0; }
  bool read(uint64_t offset, void *to, size_t bytes) const {
    return pread(descriptor, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

private:
  int descriptor;
};

struct Place {
  const char *path;
  uint64_t fileBytes;
  llmc_error *error;
};

llmc_status checkHeader(const Place &place, const Elf64_Ehdr &header) {
  const Escaped name(place.path);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG))
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: header: error: found bytes %02x %02x %02x %02x, expected a compiled model "
                "(an ELF shared object); compile the model with llmc first",
                name.text(), header.e_ident[0], header.e_ident[1], header.e_ident[2],
                header.e_ident[3]);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: header: error: found class %u, byte order %u, machine %u, expected a 64-bit "
                "little-endian x86-64 object; compile for --target cpu:x86-64-v3",
                name.text(), header.e_ident[EI_CLASS], header.e_ident[EI_DATA], header.e_machine);
  if (header.e_type != ET_DYN)
    return fail(
        place.error, LLMC_BAD_ARTIFACT,
        "%s: header: error: found ELF type %u, expected a shared object (3); link .o and .a "
        "models into the program and use llmc_model_from_artifact",
        name.text(), header.e_type);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || !header.e_phnum || header.e_phnum > kMaxSegments)
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: header: error: found %u segments of %u bytes, expected 1 to %u of %zu; the "
                "file is damaged",
                name.text(), header.e_phnum, header.e_phentsize, kMaxSegments, sizeof(Elf64_Phdr));
  const uint64_t tableBytes = header.e_phnum * sizeof(Elf64_Phdr);
  if (header.e_phoff > place.fileBytes || tableBytes > place.fileBytes - header.e_phoff)
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: header: error: found segment table at %llu, expected it inside the file of "
                "%llu bytes; the file is cut short or damaged",
                name.text(), static_cast<unsigned long long>(header.e_phoff),
                static_cast<unsigned long long>(place.fileBytes));
  return LLMC_OK;
}

llmc_status checkSegment(const Place &place, unsigned index, const Elf64_Phdr &segment) {
  const Escaped name(place.path);
  if (segment.p_offset > place.fileBytes || segment.p_filesz > place.fileBytes - segment.p_offset)
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: segment %u: error: found bytes %llu + %llu, expected them inside the file of "
                "%llu bytes; the file is cut short, copy or compile it again",
                name.text(), index, static_cast<unsigned long long>(segment.p_offset),
                static_cast<unsigned long long>(segment.p_filesz),
                static_cast<unsigned long long>(place.fileBytes));
  const bool loads = segment.p_type == PT_LOAD;
  const uint64_t limit = 1ull << 46;
  if (segment.p_memsz > limit || segment.p_vaddr > limit ||
      (loads && segment.p_memsz < segment.p_filesz) ||
      (loads && (segment.p_offset ^ segment.p_vaddr) % kPageBytes))
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: segment %u: error: found address 0x%llx, %llu bytes in memory, %llu in the "
                "file, expected a consistent segment; the file is damaged",
                name.text(), index, static_cast<unsigned long long>(segment.p_vaddr),
                static_cast<unsigned long long>(segment.p_memsz),
                static_cast<unsigned long long>(segment.p_filesz));
  return LLMC_OK;
}

// The loader reads the dynamic section through its address, so that must lie inside a loaded
// segment.
bool isLoaded(const Elf64_Phdr *segments, unsigned count, uint64_t address, uint64_t bytes) {
  for (unsigned i = 0; i < count; ++i) {
    const Elf64_Phdr &segment = segments[i];
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr <= segment.p_filesz &&
        bytes <= segment.p_filesz - (address - segment.p_vaddr))
      return true;
  }
  return false;
}

llmc_status checkSegments(const Place &place, const Elf64_Phdr *segments, unsigned count) {
  const Escaped name(place.path);
  const Elf64_Phdr *dynamic = nullptr;
  uint64_t lastAddress = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (llmc_status status = checkSegment(place, i, segments[i]))
      return status;
    if (segments[i].p_type == PT_DYNAMIC)
      dynamic = &segments[i];
    if (segments[i].p_type != PT_LOAD)
      continue;
    if (segments[i].p_vaddr < lastAddress)
      return fail(place.error, LLMC_BAD_ARTIFACT,
                  "%s: segment %u: error: found address 0x%llx inside or before another segment, "
                  "expected ascending addresses; the file is damaged",
                  name.text(), i, static_cast<unsigned long long>(segments[i].p_vaddr));
    lastAddress = segments[i].p_vaddr + segments[i].p_memsz;
  }
  if (!dynamic || !dynamic->p_filesz || dynamic->p_filesz % sizeof(Elf64_Dyn) ||
      !isLoaded(segments, count, dynamic->p_vaddr, dynamic->p_filesz))
    return fail(place.error, LLMC_BAD_ARTIFACT,
                "%s: segments: error: found no loaded dynamic section among %u segments, expected "
                "one; this is not a compiled model, or it is damaged",
                name.text(), count);
  return LLMC_OK;
}

int readForSeal(void *file, uint64_t offset, void *to, size_t bytes) {
  return static_cast<const File *>(file)->read(offset, to, bytes);
}

// A file without a seal passes: it was linked by hand, as the tests' demo model is.
llmc_status checkSeal(const Place &place, const File &file) {
  llmc_seal seal;
  uint64_t where = 0, expected = 0;
  switch (llmc_seal_compute(readForSeal, const_cast<File *>(&file), &seal, &where, &expected)) {
  case LLMC_SEAL_MISSING:
    return LLMC_OK;
  case LLMC_SEAL_UNREADABLE:
    return fail(place.error, LLMC_NOT_FOUND, "%s: error: cannot be read: %s",
                Escaped(place.path).text(), strerror(errno));
  case LLMC_SEAL_FOUND:
    break;
  }
  if (seal.hash == expected)
    return LLMC_OK;
  return fail(
      place.error, LLMC_BAD_ARTIFACT,
      "%s: seal: error: found hash %016llx over code and tables, expected %016llx; the file "
      "is damaged, copy or compile it again",
      Escaped(place.path).text(), static_cast<unsigned long long>(expected),
      static_cast<unsigned long long>(seal.hash));
}

} // namespace

llmc_status checkElfFile(const char *path, llmc_error *error) {
  const Escaped name(path);
  const File file(path);
  struct stat status;
  if (!file.isOpen() || !file.status(&status))
    return fail(error, LLMC_NOT_FOUND, "%s: error: cannot be opened: %s", name.text(),
                strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail(error, LLMC_NOT_FOUND,
                "%s: error: found something that is not a file, expected a compiled model",
                name.text());
  const Place place = {path, static_cast<uint64_t>(status.st_size), error};
  Elf64_Ehdr header;
  if (place.fileBytes < sizeof header || !file.read(0, &header, sizeof header))
    return fail(error, LLMC_BAD_ARTIFACT,
                "%s: header: error: found %llu bytes, expected at least %zu; the file is cut short "
                "or not a compiled model",
                name.text(), static_cast<unsigned long long>(place.fileBytes), sizeof header);
  if (llmc_status result = checkHeader(place, header))
    return result;
  Elf64_Phdr segments[kMaxSegments];
  if (!file.read(header.e_phoff, segments, header.e_phnum * sizeof(Elf64_Phdr)))
    return fail(error, LLMC_NOT_FOUND, "%s: error: cannot be read: %s", name.text(),
                strerror(errno));
  if (llmc_status result = checkSegments(place, segments, header.e_phnum))
    return result;
  return checkSeal(place, file);
}

} // namespace llmc
