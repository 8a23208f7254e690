// SPDX-License-Identifier: Apache-2.0
#include "frontends/gguf/Cursor.h"

#include <algorithm>

namespace llmc::gguf {

constexpr uint64_t pieceBytes = uint64_t(1) << 18;

Status Cursor::skip(uint64_t count, std::string_view place, std::string_view what) {
  if (count > remaining())
    return errorAt(file.path, place,
                   "found the end of the file (" + std::to_string(file.size) + " bytes) at byte " +
                       std::to_string(at) + ", expected " + std::to_string(count) + " bytes of " +
                       std::string(what));
  if (count > limit - at)
    return errorAt(file.path, place,
                   "found " + std::to_string(count) + " bytes of " + std::string(what) +
                       " after byte " + std::to_string(at) + ", expected at most " +
                       std::to_string(limit) + " bytes of metadata");
  while (bytes.size() < at + count) {
    uint64_t done = bytes.size();
    uint64_t part = std::min(pieceBytes, file.size - done);
    bytes.resize(done + part);
    if (Status status = file.read(done, bytes.data() + done, part); !status)
      return status;
  }
  at += count;
  return {};
}

Result<uint64_t> Cursor::number(uint32_t width, std::string_view place, std::string_view what) {
  if (Status status = skip(width, place, what); !status)
    return status.takeError();
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; ++i)
    value |= uint64_t(static_cast<unsigned char>(bytes[at - width + i])) << (8 * i);
  return value;
}

} // namespace llmc::gguf
