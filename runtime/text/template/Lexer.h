// SPDX-License-Identifier: Apache-2.0
// A template's text cut into tokens: data, tags, and what is inside tags. Whitespace around tags is
// taken off here, as transformers sets Jinja up: trim_blocks (the newline after a statement or a
// comment goes), lstrip_blocks (so does the blank start of its line), and the signs - and +.
#pragma once

#include "runtime/text/template/Job.h"

namespace llmc::templates {

enum class TokenKind : uint8_t {
  Data,
  OutputBegin, // {{
  OutputEnd,
  StatementBegin, // {%
  StatementEnd,
  Name,
  String, // `value`
  Number, // `value`, an integer or a float
  Operator,
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  size_t offset = 0; // in the source
  Text text;         // as written; of data, what is left of it
  Value value;
};

// The source with plain newlines and without the last one; what offsets mean from here on.
Text withPlainNewlines(Job &job, Text source);

// The tokens with an End after them; empty after a failure.
struct Tokens {
  const Token *tokens = nullptr;
  size_t count = 0;
};
Tokens tokenize(Job &job, const Source &source);

} // namespace llmc::templates
