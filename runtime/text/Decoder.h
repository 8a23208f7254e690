// SPDX-License-Identifier: Apache-2.0
// Tokens to text, token by token. What leaves is always whole characters: bytes that could still
// become one are held (at most three). No memory but its own.
#pragma once

#include "runtime/text/Tables.h"

namespace llmc::text {

// Where text goes: the first `capacity` bytes are kept, all are counted.
class Output {
public:
  Output(char *text, uint64_t capacity) : text(text), capacity(capacity) {}
  void append(Text from);
  uint64_t size() const { return count; }

private:
  char *text;
  const uint64_t capacity;
  uint64_t count = 0;
};

class Decoder {
public:
  Decoder(const Tables &tables, uint32_t flags) : tables(tables), flags(flags) {}

  void add(uint32_t token, Output &out);
  // `count` tokens of which all that give text are byte tokens, with another one behind them or
  // the end: as a whole they are UTF-8, or each is U+FFFD.
  void addByteRun(const int32_t *tokens, size_t count, Output &out);
  // What is held ends as U+FFFD; then everything is as at the beginning.
  void finish(Output &out);
  bool leavesOut(uint32_t token) const;
  bool isToken(int32_t id) const {
    return id >= 0 && static_cast<uint32_t>(id) < tables.header->n_tokens;
  }
  bool isByteOf(int32_t id) const {
    return isToken(id) && tables.has(LLMC_TOKENIZER_BYTE_RUNS) &&
           tables.tokenFlags[id] & LLMC_TOKEN_BYTE;
  }
  // Bytes that one call of add can give.
  static uint64_t mostBytes(const Tables &tables);

private:
  bool isUtf8(const int32_t *tokens, size_t count) const;
  void unreadable(Output &out);
  void bytes(Text text, Output &out);
  void endRun(Output &out);
  void characters(Text text, Output &out);

  const Tables &tables;
  const uint32_t flags;
  char held[4];
  uint32_t nHeld = 0;
  bool first = true;       // no token yet
  uint32_t stripped = 0;   // characters that went at the start
  bool atTextStart = true; // no text yet
};

} // namespace llmc::text
