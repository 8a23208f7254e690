// SPDX-License-Identifier: Apache-2.0
// A cursor over tokens that remembers the first error; shared by the module and the kernel-body
// parser.
#ifndef LLMC_TOOLS_PTX_INTERPRETER_TOKENSTREAM_H
#define LLMC_TOOLS_PTX_INTERPRETER_TOKENSTREAM_H

#include "tools/ptx-interpreter/Lexer.h"
#include "tools/ptx-interpreter/Module.h"

#include <algorithm>
#include <unordered_map>

namespace llmc::ptx {

class TokenStream {
public:
  TokenStream(const std::vector<Token> &tokens, std::string fileName)
      : tokens(tokens), fileName(std::move(fileName)) {}

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  const Token &next() {
    const Token &token = peek();
    if (position + 1 < tokens.size())
      ++position;
    return token;
  }
  bool atEnd() const { return peek().kind == Token::Kind::End; }
  bool accept(std::string_view text) {
    if (!peek().is(text))
      return false;
    next();
    return true;
  }
  bool expect(std::string_view text);
  /// A word that names something; false with an error otherwise.
  bool name(std::string_view &result, const char *what);
  /// An integer or a 0f/0d float's bits, with an optional minus sign before an integer.
  bool number(uint64_t &value);
  /// A number within [0, most].
  bool bounded(uint64_t &value, uint64_t most, const char *what);
  /// Skips to after the next ';'.
  bool skipStatement();

  bool fail(const std::string &message) { return failAt(peek().line, message); }
  /// Keeps the first error only; returns false for use in a return statement.
  bool failAt(uint32_t line, const std::string &message);

  std::string kernelName; // of the kernel being read, for messages
  std::string error;

private:
  const std::vector<Token> &tokens;
  size_t position = 0;
  std::string fileName;
};

struct Symbol {
  Space space = Space::Generic; // Global: `offset` is into the module's globals
  uint64_t offset = 0;
  bool dynamicShared = false; // starts where the static shared variables end
};
using Symbols = std::unordered_map<std::string_view, Symbol>;

/// Reads a variable declaration from its state-space word to its ';' and places it: shared and
/// local variables in the kernel, global and const ones in the module.
bool parseVariable(TokenStream &stream, Module &module, Kernel &kernel, Symbols &symbols);

/// Reads a kernel's body from after its '{' to its '}'. `symbols` holds parameters and module
/// variables.
bool parseBody(TokenStream &stream, Module &module, Kernel &kernel, const Symbols &symbols);

/// Value of a spelled integer or of 0f/0F/0d/0D bits; false when it is neither.
bool numberFromText(std::string_view text, uint64_t &value);

} // namespace llmc::ptx

#endif
