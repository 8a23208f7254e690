// SPDX-License-Identifier: Apache-2.0
// Reads a small file whole; a pipe, a folder or a huge file is refused before a byte is read.
#include "frontends/json/Value.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::json {
namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

} // namespace

Result<std::string> readTextFile(const std::string &path, uint64_t maxBytes) {
  // Not blocking, because opening a pipe without a writer would otherwise wait forever.
  Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info = {};
  if (file.number < 0 || fstat(file.number, &info) != 0)
    return errorAt(path, "",
                   std::string("found no readable file (") + std::strerror(errno) +
                       "), expected a JSON file");
  if (!S_ISREG(info.st_mode))
    return errorAt(path, "", "found something that is not a regular file, expected a JSON file");
  uint64_t size = static_cast<uint64_t>(info.st_size);
  if (size > maxBytes)
    return errorAt(path, "",
                   "found " + std::to_string(size) + " bytes, expected at most " +
                       std::to_string(maxBytes));
  std::string text(size, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    ssize_t count = read(file.number, text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errorAt(path, "",
                     std::string("found a read error (") + std::strerror(errno) + "), expected " +
                         std::to_string(size) + " bytes");
    if (count == 0)
      break; // the file shrank while being read; the parser judges what is there
    filled += static_cast<size_t>(count);
  }
  text.resize(filled);
  return text;
}

} // namespace llmc::json
