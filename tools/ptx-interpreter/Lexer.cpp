// SPDX-License-Identifier: Apache-2.0
// See the header; one pass over the text.
#include "tools/ptx-interpreter/Lexer.h"

#include <cctype>
#include <cstdio>
#include <cstring>

namespace llmc::ptx {

namespace {

bool isWordByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) || (byte && std::strchr("_$%.", byte));
}

struct Cursor {
  std::string_view text;
  size_t position = 0;
  uint32_t line = 1;

  bool atEnd() const { return position >= text.size(); }
  bool startsWith(std::string_view prefix) const {
    return text.substr(position, prefix.size()) == prefix;
  }
  void advance(size_t count) {
    for (size_t step = 0; step < count && !atEnd(); ++step)
      if (text[position++] == '\n')
        ++line;
  }
};

/// Skips white space and comments; false when a block comment never ends.
bool skipBlank(Cursor &cursor) {
  while (!cursor.atEnd()) {
    if (std::isspace(static_cast<unsigned char>(cursor.text[cursor.position]))) {
      cursor.advance(1);
    } else if (cursor.startsWith("//")) {
      while (!cursor.atEnd() && cursor.text[cursor.position] != '\n')
        cursor.advance(1);
    } else if (cursor.startsWith("/*")) {
      size_t close = cursor.text.find("*/", cursor.position + 2);
      if (close == std::string_view::npos)
        return false;
      cursor.advance(close + 2 - cursor.position);
    } else {
      break;
    }
  }
  return true;
}

size_t wordLength(const Cursor &cursor) {
  size_t end = cursor.position;
  const std::string_view text = cursor.text;
  while (end < text.size()) {
    bool joined = text.substr(end, 2) == "::" && end > cursor.position;
    if (!isWordByte(text[end]) && !joined)
      break;
    end += joined ? 2 : 1;
  }
  return end - cursor.position;
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (char byte : text.substr(0, 80)) {
    if (byte >= 32 && byte < 127) {
      result += byte;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(byte));
      result += escaped;
    }
  }
  return text.size() > 80 ? result + "..." : result;
}

bool lex(std::string_view text, std::vector<Token> &tokens, uint32_t &errorLine,
         std::string &error) {
  Cursor cursor{text};
  for (;;) {
    uint32_t start = cursor.line;
    if (!skipBlank(cursor)) {
      errorLine = start;
      error = "block comment is never closed, expected '*/'";
      return false;
    }
    if (cursor.atEnd())
      break;
    Token token{Token::Kind::Punctuation, cursor.line, cursor.text.substr(cursor.position, 1)};
    if (size_t length = wordLength(cursor)) {
      token.kind = Token::Kind::Word;
      token.text = cursor.text.substr(cursor.position, length);
    } else if (cursor.startsWith("\"")) {
      size_t close = cursor.text.find('"', cursor.position + 1);
      if (close == std::string_view::npos) {
        errorLine = cursor.line;
        error = "string is never closed, expected '\"'";
        return false;
      }
      token.kind = Token::Kind::String;
      token.text = cursor.text.substr(cursor.position, close + 1 - cursor.position);
    } else if (!std::strchr("{}()[]<>,;:@!+-|=&", *token.text.data()) || !*token.text.data()) {
      errorLine = cursor.line;
      error = "found '" + printable(token.text) + "', expected PTX text";
      return false;
    }
    cursor.advance(token.text.size());
    tokens.push_back(token);
  }
  tokens.push_back({Token::Kind::End, cursor.line, ""});
  return true;
}

} // namespace llmc::ptx
