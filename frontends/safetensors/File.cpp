// SPDX-License-Identifier: Apache-2.0
// Opens regular files only, and reads exact ranges of them.
#include "frontends/safetensors/File.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::safetensors {

Result<std::shared_ptr<File>> File::open(const std::string &path, const char *expected) {
  // Not blocking, because opening a pipe without a writer would otherwise wait forever.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return errorAt(path, "",
                   std::string("found no readable file (") + std::strerror(errno) + "), expected " +
                       expected);
  struct stat info = {};
  bool regular = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  std::shared_ptr<File> file(new File(path, static_cast<uint64_t>(info.st_size), descriptor));
  if (!regular)
    return errorAt(path, "",
                   std::string("found something that is not a regular file, expected ") + expected);
  return file;
}

File::~File() { ::close(descriptor); }

Status File::read(uint64_t offset, void *out, uint64_t size) const {
  char *bytes = static_cast<char *>(out);
  uint64_t done = 0;
  while (done < size) {
    ssize_t count =
        ::pread(descriptor, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errorAt(path, "offset " + std::to_string(offset + done),
                     std::string("found a read error (") + std::strerror(errno) + "), expected " +
                         std::to_string(size - done) + " bytes");
    if (count == 0)
      return errorAt(path, "offset " + std::to_string(offset + done),
                     "found the end of the file, expected " + std::to_string(size - done) +
                         " more bytes; it became shorter after it was opened");
    done += static_cast<uint64_t>(count);
  }
  return {};
}

} // namespace llmc::safetensors
