// SPDX-License-Identifier: Apache-2.0
// A file that is read in exact pieces, never mapped: one that shrinks is an error, not a signal.
// The GGUF reader reads through it too.
#pragma once

#include "dialects/model/Error.h"

#include <cstdint>
#include <memory>

namespace llmc::safetensors {

// An open file, closed with its last owner.
class File {
public:
  // Regular files only; `expected` is what errors say that `path` should be.
  static Result<std::shared_ptr<File>> open(const std::string &path,
                                            const char *expected = "a safetensors file");
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  // Exactly `size` bytes from `offset`.
  Status read(uint64_t offset, void *out, uint64_t size) const;

  const std::string path;
  const uint64_t size;

private:
  File(std::string path, uint64_t size, int descriptor)
      : path(std::move(path)), size(size), descriptor(descriptor) {}
  int descriptor;
};

} // namespace llmc::safetensors
