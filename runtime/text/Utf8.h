// SPDX-License-Identifier: Apache-2.0
// UTF-8: reading characters, and U+FFFD for what is none, one for each maximal subpart (Unicode 15,
// section 3.9), as the `tokenizers` library's strings have it.
#pragma once

#include "runtime/text/Array.h"
#include "runtime/text/Span.h"

namespace llmc::text {

constexpr char kReplacement[] = "\xef\xbf\xbd"; // U+FFFD
constexpr size_t kReplacementBytes = 3;
constexpr size_t kMaxCharacterBytes = 4;

// What stands at the start of some bytes.
struct Sequence {
  uint32_t bytes;  // of the character, or of the maximal subpart of an ill-formed one; >= 1
  bool wellFormed; // a whole character
  bool incomplete; // ill-formed only because the bytes end: more of them could complete it
};
Sequence nextSequence(const char *text, size_t bytes);

// Bytes of the well-formed character that starts with `first`.
inline uint32_t characterBytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// The code point at the start of well-formed UTF-8.
uint32_t codePoint(const char *text);
void appendCodePoint(Array<char> &out, uint32_t character);

bool isWellFormed(Text text);
// `text` with U+FFFD in the place of what is not UTF-8.
void appendWellFormed(Array<char> &out, Text text);

// Unicode's White_Space property.
bool isWhiteSpace(uint32_t character);
// Bytes of white space at the start, and at the end, of well-formed text.
size_t whiteSpaceAtStart(Text text);
size_t whiteSpaceAtEnd(Text text);

} // namespace llmc::text
