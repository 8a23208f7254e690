// SPDX-License-Identifier: Apache-2.0
// Cuts PTX text into words, strings and single punctuation characters, each with its line; comments
// vanish. A word takes dots and `::` with it, so `ld.global.L2::128B.b32` and `%tid.x` are one
// token.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_LEXER_H
#define LLMC_TOOLS_PTX_INTERPRETER_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmc::ptx {

struct Token {
  enum class Kind : uint8_t { Word, String, Punctuation, End };
  Kind kind = Kind::End;
  uint32_t line = 0;
  std::string_view text; // borrowed from the lexed text

  bool is(std::string_view expected) const { return kind != Kind::String && text == expected; }
  bool isWord() const { return kind == Kind::Word; }
};

/// All tokens, closed by an End token. On failure returns false and fills line and message.
bool lex(std::string_view text, std::vector<Token> &tokens, uint32_t &errorLine,
         std::string &error);

/// A found word for a message: control and non-ASCII bytes escaped, cut after 80 bytes.
std::string printable(std::string_view text);

} // namespace llmc::ptx

#endif
