// SPDX-License-Identifier: Apache-2.0
// Numbers, expectations and error wording.
#include "tools/ptx-interpreter/TokenStream.h"

namespace llmc::ptx {

namespace {

int digitOf(char byte) {
  if (byte >= '0' && byte <= '9')
    return byte - '0';
  if (byte >= 'a' && byte <= 'f')
    return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F')
    return byte - 'A' + 10;
  return 99;
}

bool digits(std::string_view text, unsigned base, uint64_t &value) {
  value = 0;
  for (char byte : text) {
    unsigned digit = unsigned(digitOf(byte));
    if (digit >= base || value > (UINT64_MAX - digit) / base)
      return false;
    value = value * base + digit;
  }
  return !text.empty();
}

} // namespace

bool numberFromText(std::string_view text, uint64_t &value) {
  if (!text.empty() && text.back() == 'U')
    text.remove_suffix(1);
  if (text.size() < 2 || text[0] != '0')
    return digits(text, 10, value);
  switch (text[1]) {
  case 'f':
  case 'F':
    return text.size() == 10 && digits(text.substr(2), 16, value);
  case 'd':
  case 'D':
    return text.size() == 18 && digits(text.substr(2), 16, value);
  case 'x':
  case 'X':
    return digits(text.substr(2), 16, value);
  case 'b':
  case 'B':
    return digits(text.substr(2), 2, value);
  default:
    return digits(text.substr(1), 8, value);
  }
}

bool TokenStream::failAt(uint32_t line, const std::string &message) {
  if (error.empty())
    error = fileName + ":" + std::to_string(line) +
            ": error: " + (kernelName.empty() ? "" : "in kernel '" + kernelName + "': ") + message;
  return false;
}

bool TokenStream::expect(std::string_view text) {
  if (accept(text))
    return true;
  std::string found = atEnd() ? "the end of the text" : "'" + printable(peek().text) + "'";
  return fail("found " + found + ", expected '" + std::string(text) + "'");
}

bool TokenStream::name(std::string_view &result, const char *what) {
  if (!peek().isWord())
    return fail("found " + (atEnd() ? "the end of the text" : "'" + printable(peek().text) + "'") +
                ", expected " + what);
  result = next().text;
  return true;
}

bool TokenStream::number(uint64_t &value) {
  bool negative = accept("-");
  if (!peek().isWord() || !numberFromText(peek().text, value))
    return fail("found '" + printable(peek().text) + "', expected a number");
  next();
  if (negative)
    value = 0 - value;
  return true;
}

bool TokenStream::bounded(uint64_t &value, uint64_t most, const char *what) {
  uint32_t line = peek().line;
  if (!number(value))
    return false;
  if (value > most)
    return failAt(line, std::string(what) + " is " + std::to_string(value) + ", expected at most " +
                            std::to_string(most));
  return true;
}

bool TokenStream::skipStatement() {
  while (!atEnd())
    if (next().is(";"))
      return true;
  return expect(";");
}

} // namespace llmc::ptx
