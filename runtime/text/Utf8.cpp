// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/Utf8.h"

namespace llmc::text {

namespace {

using Byte = unsigned char;

// Bytes of a character by its first byte, 0 where none starts so, and the bounds of its second.
struct Lead {
  uint32_t bytes;
  Byte low;
  Byte high;
};

Lead lead(Byte first) {
  if (first < 0x80)
    return {1, 0, 0};
  if (first < 0xc2)
    return {0, 0, 0};
  if (first < 0xe0)
    return {2, 0x80, 0xbf};
  if (first < 0xf0)
    return {3, Byte(first == 0xe0 ? 0xa0 : 0x80), Byte(first == 0xed ? 0x9f : 0xbf)};
  if (first < 0xf5)
    return {4, Byte(first == 0xf0 ? 0x90 : 0x80), Byte(first == 0xf4 ? 0x8f : 0xbf)};
  return {0, 0, 0};
}

// Length of the ASCII at the start, eight bytes at a time.
size_t asciiLength(Text text) {
  size_t at = 0;
  for (uint64_t word; at + sizeof word <= text.size; at += sizeof word) {
    memcpy(&word, text.data + at, sizeof word);
    if (word & 0x8080808080808080ull)
      break;
  }
  while (at < text.size && static_cast<Byte>(text[at]) < 0x80)
    ++at;
  return at;
}

} // namespace

Sequence nextSequence(const char *text, size_t bytes) {
  const Lead first = lead(static_cast<Byte>(text[0]));
  if (first.bytes == 1)
    return {1, true, false};
  if (first.bytes == 0)
    return {1, false, false};
  for (uint32_t i = 1; i < first.bytes; ++i) {
    if (i == bytes)
      return {i, false, true};
    const auto byte = static_cast<Byte>(text[i]);
    const bool inside = i == 1 ? byte >= first.low && byte <= first.high : (byte & 0xc0) == 0x80;
    if (!inside)
      return {i, false, false};
  }
  return {first.bytes, true, false};
}

uint32_t codePoint(const char *text) {
  auto byte = [&](int i) { return static_cast<uint32_t>(static_cast<Byte>(text[i])); };
  switch (characterBytes(text[0])) {
  case 1:
    return byte(0);
  case 2:
    return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  case 3:
    return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  default:
    return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
           (byte(3) & 0x3f);
  }
}

void appendCodePoint(Array<char> &out, uint32_t character) {
  if (character < 0x80) {
    out.push(static_cast<char>(character));
  } else if (character < 0x800) {
    out.push(static_cast<char>(0xc0 | character >> 6));
    out.push(static_cast<char>(0x80 | (character & 0x3f)));
  } else if (character < 0x10000) {
    out.push(static_cast<char>(0xe0 | character >> 12));
    out.push(static_cast<char>(0x80 | (character >> 6 & 0x3f)));
    out.push(static_cast<char>(0x80 | (character & 0x3f)));
  } else {
    out.push(static_cast<char>(0xf0 | character >> 18));
    out.push(static_cast<char>(0x80 | (character >> 12 & 0x3f)));
    out.push(static_cast<char>(0x80 | (character >> 6 & 0x3f)));
    out.push(static_cast<char>(0x80 | (character & 0x3f)));
  }
}

bool isWellFormed(Text text) {
  for (size_t at = 0; at < text.size;) {
    at += asciiLength(text.part(at, text.size));
    if (at == text.size)
      break;
    const Sequence next = nextSequence(text.data + at, text.size - at);
    if (!next.wellFormed)
      return false;
    at += next.bytes;
  }
  return true;
}

void appendWellFormed(Array<char> &out, Text text) {
  size_t kept = 0; // copied up to here
  for (size_t at = 0; at < text.size;) {
    at += asciiLength(text.part(at, text.size));
    if (at == text.size)
      break;
    const Sequence next = nextSequence(text.data + at, text.size - at);
    if (!next.wellFormed) {
      out.append(text.data + kept, at - kept);
      out.append(kReplacement, kReplacementBytes);
      kept = at + next.bytes;
    }
    at += next.bytes;
  }
  out.append(text.data + kept, text.size - kept);
}

bool isWhiteSpace(uint32_t c) {
  return c == ' ' || (c >= 0x09 && c <= 0x0d) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

size_t whiteSpaceAtStart(Text text) {
  size_t at = 0;
  while (at < text.size && isWhiteSpace(codePoint(text.data + at)))
    at += characterBytes(text[at]);
  return at;
}

size_t whiteSpaceAtEnd(Text text) {
  size_t at = text.size;
  while (at) {
    size_t before = at - 1;
    while (before && (static_cast<Byte>(text[before]) & 0xc0) == 0x80)
      --before;
    if (!isWhiteSpace(codePoint(text.data + before)))
      break;
    at = before;
  }
  return text.size - at;
}

} // namespace llmc::text
