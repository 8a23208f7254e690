// SPDX-License-Identifier: Apache-2.0
// Buffered by stdio; a full disk may show as late as fclose.
#include "tools/llmc/NewFile.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace llmc::tool {

NewFile::~NewFile() {
  if (file)
    fclose(file);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

Error NewFile::failed(const char *what, int code) const {
  return errorAt(path, "",
                 std::string("cannot be ") + what + ": " + strerror(code) +
                     "; free space or choose another place");
}

Status NewFile::open() {
  struct stat info = {};
  if (!stat(path.c_str(), &info) && !S_ISREG(info.st_mode))
    return errorAt(path, "",
                   "found something that is not a file, expected a file to replace or a free name");
  const std::string name = path + ".partial-" + std::to_string(getpid());
  const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return failed("created", errno);
  guard.emplace(name);
  temporary = name;
  file = fdopen(descriptor, "wb");
  if (file)
    return {};
  const int code = errno;
  close(descriptor);
  return failed("created", code);
}

Status NewFile::write(const void *data, size_t size) {
  if (fwrite(data, 1, size, file) != size)
    return failed("written", errno);
  return {};
}

Status NewFile::commit() {
  FILE *closing = std::exchange(file, nullptr);
  if (fclose(closing))
    return failed("written", errno);
  if (rename(temporary.c_str(), path.c_str()))
    return failed("renamed", errno);
  temporary.clear();
  guard.reset();
  return {};
}

Status writeWholeFile(const std::string &path, std::string_view text) {
  NewFile file(path);
  if (Status status = file.open(); !status)
    return status;
  if (Status status = file.write(text.data(), text.size()); !status)
    return status;
  return file.commit();
}

} // namespace llmc::tool
