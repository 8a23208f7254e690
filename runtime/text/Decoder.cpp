// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/Decoder.h"
#include "runtime/engine/Error.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Utf8.h"

namespace llmc::text {

void Output::append(Text from) {
  if (count < capacity) {
    const uint64_t room = capacity - count;
    memcpy(text + count, from.data, from.size < room ? from.size : room);
  }
  count += from.size;
}

bool Decoder::leavesOut(uint32_t token) const {
  return flags & LLMC_DECODE_SKIP_SPECIAL && tables.tokenFlags[token] & LLMC_TOKEN_SPECIAL;
}

// A held part may give three characters of U+FFFD, and each byte of the token one.
uint64_t Decoder::mostBytes(const Tables &tables) {
  const llmc_tokenizer_header &h = *tables.header;
  const uint64_t longest = h.longest_decoded > h.longest_text ? h.longest_decoded : h.longest_text;
  return (longest + kMaxCharacterBytes + 1) * kReplacementBytes;
}

void Decoder::add(uint32_t token, Output &out) {
  if (leavesOut(token))
    return;
  if (tables.has(LLMC_TOKENIZER_JOIN_SPACES) && !first)
    characters({" ", 1}, out);
  const bool begins = first;
  first = false;
  if (tables.ofBytes() || isByteOf(static_cast<int32_t>(token))) {
    bytes(tables.decoded(token), out);
    return;
  }
  endRun(out);
  if (!begins || !tables.has(LLMC_TOKENIZER_STRIP_MARK)) {
    characters(tables.decoded(token), out);
    return;
  }
  const Text text = tables.token(token);
  const Text mark = tables.string(tables.header->mark);
  for (size_t at = 0; at < text.size;) {
    const bool isMark = startsWith(text.part(at, text.size), mark);
    const size_t step = isMark ? mark.size : characterBytes(text[at]);
    if (!isMark)
      characters(text.part(at, at + step), out);
    at += step;
  }
}

// Whole characters leave at once; U+FFFD is for a maximal subpart in a tokenizer of bytes, and for
// each byte in one of characters.
void Decoder::bytes(Text text, Output &out) {
  for (char byte : text) {
    held[nHeld++] = byte;
    while (nHeld) {
      const Sequence next = nextSequence(held, nHeld);
      if (next.incomplete)
        break;
      if (next.wellFormed)
        characters({held, next.bytes}, out);
      const uint32_t marks = next.wellFormed ? 0 : tables.ofBytes() ? 1 : next.bytes;
      for (uint32_t i = 0; i < marks; ++i)
        characters({kReplacement, kReplacementBytes}, out);
      nHeld -= next.bytes;
      memmove(held, held + next.bytes, nHeld);
    }
  }
}

void Decoder::unreadable(Output &out) {
  first = false;
  characters({kReplacement, kReplacementBytes}, out);
}

void Decoder::endRun(Output &out) {
  if (!nHeld)
    return;
  const uint32_t marks = tables.ofBytes() ? 1 : nHeld; // what is held is one subpart
  nHeld = 0;
  for (uint32_t i = 0; i < marks; ++i)
    characters({kReplacement, kReplacementBytes}, out);
}

bool Decoder::isUtf8(const int32_t *tokens, size_t count) const {
  char window[kMaxCharacterBytes];
  size_t filled = 0;
  for (size_t at = 0;;) {
    for (; filled < sizeof window && at < count; ++at)
      if (isByteOf(tokens[at]))
        window[filled++] = tables.decoded(static_cast<uint32_t>(tokens[at]))[0];
    if (!filled)
      return true;
    const Sequence next = nextSequence(window, filled);
    if (!next.wellFormed)
      return false;
    filled -= next.bytes;
    memmove(window, window + next.bytes, filled);
  }
}

void Decoder::addByteRun(const int32_t *tokens, size_t count, Output &out) {
  const bool sound = isUtf8(tokens, count);
  for (size_t i = 0; i < count; ++i)
    if (!isByteOf(tokens[i]))
      continue;
    else if (sound)
      add(static_cast<uint32_t>(tokens[i]), out);
    else
      unreadable(out);
}

// The last step: what goes at the start of the whole text. `text` is whole characters.
void Decoder::characters(Text text, Output &out) {
  const llmc_tokenizer_header &h = *tables.header;
  const Text strip = tables.string(h.strip);
  while (atTextStart && !text.empty()) {
    if (stripped < h.strip_count && startsWith(text, strip)) {
      ++stripped;
      text = text.part(strip.size, text.size);
    } else {
      atTextStart = false;
    }
  }
  out.append(text);
}

void Decoder::finish(Output &out) {
  endRun(out);
  first = true;
  stripped = 0;
  atTextStart = true;
}

uint64_t Tokenizer::decode(Span<int32_t> tokens, uint32_t flags, char *text,
                           uint64_t capacity) const {
  Output out(text, capacity);
  Decoder decoder(table, flags);
  // Ids that give no text do not end a run of byte tokens.
  auto passedOver = [&](int32_t token) {
    return !decoder.isToken(token) || decoder.leavesOut(static_cast<uint32_t>(token));
  };
  for (size_t i = 0; i < tokens.size;) {
    size_t end = i;
    while (end < tokens.size && (decoder.isByteOf(tokens[end]) || passedOver(tokens[end])))
      ++end;
    decoder.addByteRun(tokens.data + i, end - i, out);
    if (end < tokens.size)
      decoder.add(static_cast<uint32_t>(tokens[end++]), out);
    i = end;
  }
  decoder.finish(out);
  return out.size();
}

} // namespace llmc::text
