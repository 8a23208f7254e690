// SPDX-License-Identifier: Apache-2.0
// Reads the metadata of a file front to back into memory that grows with what was read, never with
// what the file announces.
#pragma once

#include "frontends/safetensors/File.h"

namespace llmc::gguf {

class Cursor {
public:
  Cursor(const safetensors::File &file, uint64_t limit) : file(file), limit(limit) {}

  uint64_t position() const { return at; }
  // Bytes of the file from here on, whether read or not.
  uint64_t remaining() const { return file.size - at; }

  // A little-endian number of `width` bytes. `place` and `what` are for errors.
  Result<uint64_t> number(uint32_t width, std::string_view place, std::string_view what);
  // Moves on by `count` bytes, all of which are in memory afterwards.
  Status skip(uint64_t count, std::string_view place, std::string_view what);
  // Of bytes that were skipped or read as numbers; valid until the next call.
  std::string_view view(uint64_t offset, uint64_t count) const {
    return std::string_view(bytes).substr(offset, count);
  }
  std::string takeBytes() { return std::move(bytes); }

private:
  const safetensors::File &file;
  uint64_t limit; // of the metadata's bytes
  uint64_t at = 0;
  std::string bytes;
};

} // namespace llmc::gguf
