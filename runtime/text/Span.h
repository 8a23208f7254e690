// SPDX-License-Identifier: Apache-2.0
// A borrowed run of bytes or of table entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace llmc::text {

template <typename T> struct Span {
  const T *data = nullptr;
  size_t size = 0;

  const T *begin() const { return data; }
  const T *end() const { return data + size; }
  const T &operator[](size_t index) const { return data[index]; }
  bool empty() const { return size == 0; }
  Span part(size_t from, size_t to) const { return {data + from, to - from}; }
};

using Text = Span<char>;

inline bool equal(Text a, Text b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
inline bool startsWith(Text text, Text start) {
  return start.size <= text.size && equal(text.part(0, start.size), start);
}

} // namespace llmc::text
