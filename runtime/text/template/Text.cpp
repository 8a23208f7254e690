// SPDX-License-Identifier: Apache-2.0
// UTF-8 text as Python sees it. Character classes are utf8proc's.
#include "runtime/text/template/Text.h"
#include <utf8proc.h>

namespace llmc::templates {

size_t Text::find(Text needle, size_t start) const {
  if (start > size || needle.size > size - start)
    return kNone;
  const void *found = memmem(data + start, size - start, needle.data, needle.size);
  return found ? static_cast<size_t>(static_cast<const char *>(found) - data) : kNone;
}

size_t Text::findLast(Text needle) const {
  for (size_t offset = size + 1; offset-- > 0;)
    if (offset + needle.size <= size && memcmp(data + offset, needle.data, needle.size) == 0)
      return offset;
  return kNone;
}

int compare(Text left, Text right) {
  const size_t common = left.size < right.size ? left.size : right.size;
  const int order = memcmp(left.data, right.data, common);
  if (order)
    return order;
  return left.size == right.size ? 0 : left.size < right.size ? -1 : 1;
}

Character characterAt(Text text, size_t offset) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t *>(text.data + offset),
                       static_cast<utf8proc_ssize_t>(text.size - offset), &code);
  if (size <= 0)
    return {kInvalid, 1};
  return {static_cast<uint32_t>(code), static_cast<size_t>(size)};
}

size_t previous(Text text, size_t offset) {
  for (size_t size = 1; size <= 4 && size <= offset; ++size) {
    const Character character = characterAt(text, offset - size);
    if (character.code != kInvalid && character.size == size)
      return offset - size;
  }
  return offset - 1;
}

size_t countCharacters(Text text) {
  size_t count = 0;
  for (size_t offset = 0; offset < text.size; offset += characterAt(text, offset).size)
    ++count;
  return count;
}

size_t offsetOfCharacter(Text text, size_t index) {
  size_t offset = 0;
  for (; index > 0 && offset < text.size; --index)
    offset += characterAt(text, offset).size;
  return offset;
}

size_t encode(uint32_t code, char *bytes) {
  return static_cast<size_t>(utf8proc_encode_char(static_cast<utf8proc_int32_t>(code),
                                                  reinterpret_cast<utf8proc_uint8_t *>(bytes)));
}

bool isSpace(uint32_t code) {
  return (code >= 0x9 && code <= 0xd) || (code >= 0x1c && code <= 0x20) || code == 0x85 ||
         code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
         code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

static utf8proc_category_t categoryOf(uint32_t code) {
  return code == kInvalid ? UTF8PROC_CATEGORY_CN
                          : utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool isAlphabetic(uint32_t code) {
  const utf8proc_category_t category = categoryOf(code);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool isDecimal(uint32_t code) { return categoryOf(code) == UTF8PROC_CATEGORY_ND; }

bool isNumeric(uint32_t code) {
  const utf8proc_category_t category = categoryOf(code);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isPrintable(uint32_t code) {
  const utf8proc_category_t category = categoryOf(code);
  return code == ' ' || (category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS);
}

bool isUpper(uint32_t code) { return categoryOf(code) == UTF8PROC_CATEGORY_LU; }
bool isLower(uint32_t code) { return categoryOf(code) == UTF8PROC_CATEGORY_LL; }

template <typename InSet> static Text stripWhere(Text text, Sides sides, InSet inSet) {
  size_t from = 0, to = text.size;
  while (static_cast<int>(sides) & static_cast<int>(Sides::Left) && from < to) {
    const Character character = characterAt(text, from);
    if (!inSet(text.slice(from, from + character.size), character.code))
      break;
    from += character.size;
  }
  while (static_cast<int>(sides) & static_cast<int>(Sides::Right) && from < to) {
    const size_t start = previous(text, to);
    if (!inSet(text.slice(start, to), characterAt(text, start).code))
      break;
    to = start;
  }
  return text.slice(from, to);
}

Text stripSpace(Text text, Sides sides) {
  return stripWhere(text, sides, [](Text, uint32_t code) { return isSpace(code); });
}

Text strip(Text text, Text set, Sides sides) {
  return stripWhere(text, sides, [set](Text character, uint32_t code) {
    if (code == kInvalid)
      return false;
    return set.find(character) != Text::kNone;
  });
}

} // namespace llmc::templates
