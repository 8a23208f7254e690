// SPDX-License-Identifier: Apache-2.0
// Opens tokenizer tables from anywhere and does with them all that can be done.
#pragma once

#include "Checks.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Utf8.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace llmc::fuzz {

// What was decoded is UTF-8, and the same one by one unless byte tokens are read in runs.
inline void checkDecoding(const text::Tokenizer &tokenizer, const std::vector<int32_t> &ids,
                          uint32_t flags) {
  const text::Tables &tables = tokenizer.tables();
  std::string whole(tokenizer.decode({ids.data(), ids.size()}, flags, nullptr, 0), '\0');
  require(tokenizer.decode({ids.data(), ids.size()}, flags, whole.data(), whole.size()) ==
          whole.size());
  require(text::isWellFormed({whole.data(), whole.size()}));
  text::Decoder decoder(tables, flags);
  std::vector<char> room(text::Decoder::mostBytes(tables));
  std::string streamed;
  for (int32_t id : ids) {
    text::Output out(room.data(), room.size());
    if (decoder.isToken(id))
      decoder.add(static_cast<uint32_t>(id), out);
    require(out.size() <= room.size());
    require(text::isWellFormed({room.data(), out.size()}));
    streamed.append(room.data(), out.size());
  }
  text::Output out(room.data(), room.size());
  decoder.finish(out);
  streamed.append(room.data(), out.size());
  require(streamed == whole || tables.has(LLMC_TOKENIZER_BYTE_RUNS));
}

// Encodes a text in every way, and decodes its ids and some that no text gives.
inline void exercise(const text::Tokenizer &tokenizer, std::string_view text) {
  for (uint32_t flags = 0; flags < 4; ++flags) {
    uint64_t needed = 0;
    std::vector<int32_t> ids(64 + 4 * text.size());
    if (tokenizer.encode({text.data(), text.size()}, flags, ids.data(), ids.size(), needed,
                         nullptr))
      continue;
    ids.resize(std::min<size_t>(needed, ids.size()));
    for (int32_t id : ids)
      require(id >= 0 && static_cast<uint32_t>(id) < tokenizer.tables().header->n_tokens);
    for (unsigned char byte : text)
      ids.push_back(byte * 7 % 300);
    checkDecoding(tokenizer, ids, 0);
    checkDecoding(tokenizer, ids, LLMC_DECODE_SKIP_SPECIAL);
  }
}

// False when the tables are refused.
inline bool useTokenizer(const std::string &tables, std::string_view text) {
  // Memory of its exact size, aligned, so that each read beyond it is seen.
  void *memory = nullptr;
  if (posix_memalign(&memory, 64, tables.size() ? tables.size() : 1))
    return false;
  memcpy(memory, tables.data(), tables.size());
  bool opened = false;
  {
    Allocator allocator(nullptr);
    text::Tokenizer tokenizer(allocator);
    llmc_error error{};
    error.struct_size = sizeof error;
    opened = tokenizer.open(memory, tables.size(), "tables", &error) == LLMC_OK;
    require(opened || strstr(error.message, "error: "));
    if (opened)
      exercise(tokenizer, text);
  }
  free(memory);
  return opened;
}

} // namespace llmc::fuzz
