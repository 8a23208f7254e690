// SPDX-License-Identifier: Apache-2.0
// Decomposition and composition are utf8proc's, character by character; putting marks in canonical
// order is ours, since utf8proc's takes quadratic time on long runs of marks.
#include "runtime/text/Normalize.h"
#include "runtime/text/Utf8.h"

#include <utf8proc.h>

namespace llmc::text {

namespace {

uint8_t combiningClass(int32_t character) {
  return static_cast<uint8_t>(utf8proc_get_property(character)->combining_class);
}

int decompositionOptions(uint32_t form) {
  const int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  return form == LLMC_TEXT_NFKC || form == LLMC_TEXT_NFKD ? options | UTF8PROC_COMPAT : options;
}

constexpr int kLongestDecomposition = 32; // of a character; Unicode's is 18

} // namespace

// A stable counting sort of points [begin, end) by class.
void NormalForm::sortMarks(size_t begin, size_t end) {
  sorted.clear();
  if (!sorted.extend(end - begin))
    return;
  size_t starts[257] = {};
  for (size_t i = begin; i < end; ++i)
    ++starts[combiningClass(points[i]) + 1];
  for (int cls = 1; cls < 257; ++cls)
    starts[cls] += starts[cls - 1];
  for (size_t i = begin; i < end; ++i)
    sorted[starts[combiningClass(points[i])]++] = points[i];
  memcpy(points.data() + begin, sorted.data(), (end - begin) * sizeof(int32_t));
}

// Marks (class above 0) between two starters come in ascending order of class, equal ones as they
// stood.
void NormalForm::order() {
  const size_t count = points.size();
  for (size_t begin = 0; begin < count;) {
    if (combiningClass(points[begin]) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    bool ordered = true;
    uint8_t last = 0;
    for (; end < count; ++end) {
      const uint8_t next = combiningClass(points[end]);
      if (next == 0)
        break;
      ordered &= next >= last;
      last = next;
    }
    if (!ordered)
      sortMarks(begin, end);
    begin = end;
  }
}

void NormalForm::island(Array<char> &out, Text text, uint32_t form) {
  points.clear();
  for (size_t at = 0; at < text.size; at += characterBytes(text[at])) {
    int boundary = 0;
    int32_t decomposed[kLongestDecomposition];
    const utf8proc_ssize_t count = utf8proc_decompose_char(
        static_cast<int32_t>(codePoint(text.data + at)), decomposed, kLongestDecomposition,
        static_cast<utf8proc_option_t>(decompositionOptions(form)), &boundary);
    if (count > 0 && count <= kLongestDecomposition)
      points.append(decomposed, static_cast<size_t>(count));
  }
  order();
  if (failed())
    return;
  size_t count = points.size();
  if (form == LLMC_TEXT_NFC || form == LLMC_TEXT_NFKC) {
    const utf8proc_ssize_t composed = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(count),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    count = composed < 0 ? count : static_cast<size_t>(composed);
  }
  for (size_t i = 0; i < count; ++i)
    appendCodePoint(out, static_cast<uint32_t>(points[i]));
}

// ASCII is its own normal form in all four, and only its last character before others can take
// part in a composition. So a text is plain stretches and islands: one ASCII character and what
// follows up to the next.
void NormalForm::append(Array<char> &out, Text text, uint32_t form) {
  auto isAscii = [&](size_t at) { return static_cast<unsigned char>(text[at]) < 0x80; };
  for (size_t at = 0; at < text.size;) {
    size_t plain = at;
    while (plain < text.size && isAscii(plain))
      ++plain;
    if (plain == text.size) {
      out.append(text.data + at, plain - at);
      break;
    }
    const size_t begin = plain > at ? plain - 1 : plain;
    out.append(text.data + at, begin - at);
    size_t end = plain;
    while (end < text.size && !isAscii(end))
      ++end;
    island(out, text.part(begin, end), form);
    at = end;
  }
}

} // namespace llmc::text
