// SPDX-License-Identifier: Apache-2.0
// Builds error lines, and makes bytes that came from a file safe to print in them.
#include "dialects/model/Error.h"

namespace llmc {

std::string Error::str() const {
  std::string text = message;
  for (const std::string &note : notes)
    text += "\n" + note;
  return text;
}

Error &&Error::withNote(std::string note) && {
  notes.push_back(std::move(note));
  return std::move(*this);
}

// The length of the well-formed UTF-8 sequence of several bytes at the start of `text`; 0 when
// there is none. Sequences that encode control characters (U+0080..U+009F) or surrogates count as
// none.
static size_t multibyteLength(std::string_view text) {
  auto byteAt = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byteAt(0);
  size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                  : lead >= 0xE0 && lead <= 0xEF ? 3
                  : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                 : 0;
  if (length == 0 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byteAt(i) & 0xC0) != 0x80)
      return 0;
  unsigned char second = byteAt(1);
  bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  bool outside = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  bool control = lead == 0xC2 && second < 0xA0;
  // Line and paragraph separators and the marks that reorder text would break "one line" on a
  // terminal.
  bool separator = lead == 0xE2 && ((second == 0x80 && byteAt(2) >= 0x8B && byteAt(2) <= 0xAF) ||
                                    (second == 0x81 && byteAt(2) >= 0xA0 && byteAt(2) <= 0xAF));
  return overlong || outside || control || separator ? 0 : length;
}

std::string escaped(std::string_view text, size_t limit) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (i >= limit) {
      out += "...";
      break;
    }
    unsigned char byte = static_cast<unsigned char>(text[i]);
    size_t length = byte >= 0x20 && byte < 0x7F ? 1 : multibyteLength(text.substr(i));
    if (length == 0) {
      out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      length = 1;
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

static std::string lineAt(std::string_view file, std::string_view place, const char *kind,
                          std::string_view text) {
  std::string line = escaped(file, 4096);
  if (!line.empty())
    line += ": ";
  if (!place.empty()) {
    line += place;
    line += ": ";
  }
  line += kind;
  line += ": ";
  line += text;
  return line;
}

Error errorAt(std::string_view file, std::string_view place, std::string_view text) {
  return Error{lineAt(file, place, "error", text), {}};
}

std::string noteAt(std::string_view file, std::string_view place, std::string_view text) {
  return lineAt(file, place, "note", text);
}

} // namespace llmc
