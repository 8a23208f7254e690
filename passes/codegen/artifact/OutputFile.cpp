// SPDX-License-Identifier: Apache-2.0
// POSIX files. Small writes are gathered, large ones go straight through.
#include "passes/codegen/artifact/OutputFile.h"
#include "passes/codegen/artifact/ScratchFolder.h"

#include "llvm/Support/Signals.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace llmc::artifact {
namespace {

constexpr size_t kBufferBytes = 1u << 18;
constexpr size_t kPageBytes = 4096;
constexpr size_t kLargestWrite = size_t(1) << 30;
constexpr int kNameTries = 100;

} // namespace

Status checkRoom(const std::string &path, uint64_t diskBytes, uint64_t fileBytes) {
  struct statvfs disk;
  const std::string folder = folderOf(path);
  if (statvfs(folder.c_str(), &disk))
    return errorAt(folder, "",
                   std::string("cannot be written to: ") + strerror(errno) +
                       "; choose another output folder");
  const uint64_t available = uint64_t(disk.f_bavail) * disk.f_frsize;
  if (available < diskBytes)
    return errorAt(path, "",
                   "found " + std::to_string(available) +
                       " bytes available on its disk, expected at least " +
                       std::to_string(diskBytes) + "; free space or choose another folder");
  struct rlimit limit;
  if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < fileBytes)
    return errorAt(path, "",
                   "found a file size limit of " + std::to_string(uint64_t(limit.rlim_cur)) +
                       " bytes, expected at least " + std::to_string(fileBytes) +
                       "; raise it (ulimit -f)");
  return {};
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string &path,
                                                       OutputOptions options) {
  struct stat status;
  if (!stat(path.c_str(), &status) && !S_ISREG(status.st_mode))
    return errorAt(path, "",
                   "found something that is not a file, expected a file to replace or a free name");
  const mode_t mode = options.executable ? 0777 : 0666;
  int descriptor = -1;
  std::string temporary;
  for (int i = 0; descriptor < 0 && i < kNameTries; ++i) {
    temporary = path + ".partial-" + std::to_string(getpid()) + "-" + std::to_string(i);
    descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor < 0)
    return errorAt(path, "",
                   std::string("cannot be written: ") + strerror(errno) +
                       "; choose another output folder");
  return std::unique_ptr<OutputFile>(
      new OutputFile(path, std::move(temporary), descriptor, options.removeOnSignal));
}

OutputFile::OutputFile(std::string path, std::string temporary, int descriptor, bool removeOnSignal)
    : path(std::move(path)), temporary(std::move(temporary)), descriptor(descriptor),
      removeOnSignal(removeOnSignal) {
  if (removeOnSignal)
    llvm::sys::RemoveFileOnSignal(this->temporary);
}

OutputFile::~OutputFile() {
  close();
  if (!committed)
    unlink(temporary.c_str());
  if (removeOnSignal)
    llvm::sys::DontRemoveFileOnSignal(temporary);
}

bool OutputFile::close() {
  const int open = std::exchange(descriptor, -1);
  return open < 0 || ::close(open) == 0;
}

Error OutputFile::failed(const char *what, int code) const {
  return errorAt(path, "",
                 std::string("cannot be ") + what + " at byte " + std::to_string(position) + ": " +
                     strerror(code) + "; free space or choose another output folder");
}

Status OutputFile::seek(uint64_t offset) {
  if (Status status = flush(); !status)
    return status;
  position = offset;
  return {};
}

Status OutputFile::write(const void *data, size_t size) {
  if (buffer.size() + size > kBufferBytes)
    if (Status status = flush(); !status)
      return status;
  if (size > kBufferBytes)
    return writeNow(static_cast<const char *>(data), size);
  buffer.append(static_cast<const char *>(data), size);
  return {};
}

Status OutputFile::flush() {
  Status status = writeNow(buffer.data(), buffer.size());
  buffer.clear();
  return status;
}

Status OutputFile::writeNow(const char *data, size_t size) {
  while (size) {
    const ssize_t written =
        pwrite(descriptor, data, std::min(size, kLargestWrite), off_t(position));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failed("written", written < 0 ? errno : ENOSPC);
    data += written;
    size -= size_t(written);
    position += uint64_t(written);
  }
  return {};
}

Status OutputFile::writeSparse(std::string_view bytes) {
  static constexpr char kZeros[kPageBytes] = {};
  while (!bytes.empty()) {
    const std::string_view page = bytes.substr(0, kPageBytes);
    const bool isHole = !memcmp(page.data(), kZeros, page.size());
    if (Status status =
            isHole ? seek(position + buffer.size() + page.size()) : write(page.data(), page.size());
        !status)
      return status;
    bytes.remove_prefix(page.size());
  }
  return {};
}

Status OutputFile::commit(uint64_t bytes) {
  if (Status status = flush(); !status)
    return status;
  if (ftruncate(descriptor, off_t(bytes)))
    return failed("resized", errno);
  if (!close())
    return failed("closed", errno);
  if (rename(temporary.c_str(), path.c_str()))
    return failed("renamed", errno);
  committed = true;
  return {};
}

void OutputFile::withdraw() {
  if (committed)
    unlink(path.c_str());
}

} // namespace llmc::artifact
