// SPDX-License-Identifier: Apache-2.0
// A piece of UTF-8 text that somebody else owns. Templates count in characters, as Python does;
// a byte that is no valid UTF-8 counts as one character and passes through unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace llmc::templates {

struct Text {
  const char *data = "";
  size_t size = 0;

  Text() = default;
  Text(const char *data, size_t size) : data(data), size(size) {}
  Text(const char *literal) : data(literal), size(strlen(literal)) {}

  bool empty() const { return size == 0; }
  const char *begin() const { return data; }
  const char *end() const { return data + size; }
  char operator[](size_t index) const { return data[index]; }
  // The bytes [from, to); both are clipped.
  Text slice(size_t from, size_t to) const {
    to = to < size ? to : size;
    return from < to ? Text(data + from, to - from) : Text(data + to, 0);
  }
  Text from(size_t start) const { return slice(start, size); }
  bool startsWith(Text other) const {
    return size >= other.size && memcmp(data, other.data, other.size) == 0;
  }
  bool endsWith(Text other) const {
    return size >= other.size && memcmp(end() - other.size, other.data, other.size) == 0;
  }
  // Byte offset of the first `needle` at or after `start`; kNone if there is none.
  static constexpr size_t kNone = SIZE_MAX;
  size_t find(Text needle, size_t start = 0) const;
  size_t findLast(Text needle) const;
};

inline bool operator==(Text left, Text right) {
  return left.size == right.size && memcmp(left.data, right.data, left.size) == 0;
}
inline bool operator!=(Text left, Text right) { return !(left == right); }
// Byte order, which is the order of code points.
int compare(Text left, Text right);

struct Character {
  uint32_t code; // kInvalid for a byte that starts no valid character
  size_t size;   // bytes, 1 to 4
};
constexpr uint32_t kInvalid = UINT32_MAX;
// The character at `offset`, which is less than the size.
Character characterAt(Text text, size_t offset);
// Start of the character that ends at `offset`, which is more than 0.
size_t previous(Text text, size_t offset);
size_t countCharacters(Text text);
// Byte offset of a character; the size for one past the end.
size_t offsetOfCharacter(Text text, size_t index);
// Writes 1 to 4 bytes.
size_t encode(uint32_t code, char *bytes);

// As Python's str methods see a code point.
bool isSpace(uint32_t code);
bool isAlphabetic(uint32_t code);
bool isDecimal(uint32_t code);
bool isNumeric(uint32_t code);
bool isPrintable(uint32_t code);
bool isUpper(uint32_t code);
bool isLower(uint32_t code);

enum class Sides { Left = 1, Right = 2, Both = 3 };
Text stripSpace(Text text, Sides sides = Sides::Both);
// Takes off the characters that occur in `set`.
Text strip(Text text, Text set, Sides sides);

} // namespace llmc::templates
