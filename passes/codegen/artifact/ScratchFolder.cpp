// SPDX-License-Identifier: Apache-2.0
// Small files, written and read whole.
#include "passes/codegen/artifact/ScratchFolder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdlib.h>

namespace llmc::artifact {

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash ? path.substr(0, slash) : "/";
}

Result<ScratchFolder> ScratchFolder::make(const std::string &parent) {
  std::string pattern = parent + "/.llmc-link-XXXXXX";
  if (!mkdtemp(pattern.data()))
    return errorAt(parent, "",
                   std::string("found a folder in which nothing can be written: ") +
                       strerror(errno) + ", expected a writable one; choose another output folder");
  return ScratchFolder(std::move(pattern));
}

ScratchFolder::ScratchFolder(ScratchFolder &&other) noexcept : folder(std::move(other.folder)) {
  other.folder.clear();
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<std::string> ScratchFolder::write(const std::string &name, std::string_view bytes) {
  std::string file = path(name);
  FILE *stream = fopen(file.c_str(), "wbe");
  const bool written = stream && fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  const int code = errno;
  const bool closed = stream && fclose(stream) == 0;
  if (!written || !closed)
    return errorAt(file, "",
                   "cannot write " + std::to_string(bytes.size()) +
                       " bytes: " + strerror(written ? errno : code) +
                       "; free space or choose another output folder");
  return file;
}

Result<std::string> ScratchFolder::read(const std::string &name) const {
  const std::string file = path(name);
  std::error_code code;
  const uintmax_t size = std::filesystem::file_size(file, code);
  FILE *stream = code ? nullptr : fopen(file.c_str(), "rbe");
  std::string bytes(stream ? size : 0, '\0');
  const bool complete = stream && fread(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  if (stream)
    fclose(stream);
  if (!complete)
    return errorAt(file, "", "cannot be read back, expected what the linker wrote");
  return bytes;
}

} // namespace llmc::artifact
