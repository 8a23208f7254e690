// SPDX-License-Identifier: Apache-2.0
// Bytes as a file that readers can open by path, without a disk.
#pragma once

#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace llmc::fuzz {

class MemoryFile {
public:
  // `extra` zeros follow the bytes; they cost no memory before somebody reads them.
  MemoryFile(const uint8_t *data, size_t size, size_t extra)
      : descriptor(memfd_create("fuzz", MFD_CLOEXEC)) {
    bool whole = write(descriptor, data, size) == static_cast<ssize_t>(size) &&
                 ftruncate(descriptor, static_cast<off_t>(size + extra)) == 0;
    if (!whole)
      __builtin_trap();
  }
  ~MemoryFile() { close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

} // namespace llmc::fuzz
