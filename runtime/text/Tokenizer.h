// SPDX-License-Identifier: Apache-2.0
// A tokenizer: checked tables and compiled patterns. Immutable once opened, shared by threads; each
// call makes its own scratch memory.
#pragma once

#include "llmc/text.h"
#include "runtime/text/Array.h"
#include "runtime/text/Pattern.h"
#include "runtime/text/Tables.h"

namespace llmc::text {

// The longest text of a call.
constexpr uint64_t kMaxTextBytes = uint64_t(1) << 30;

class Tokenizer {
public:
  explicit Tokenizer(const Allocator &allocator) : allocator(allocator) {}
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;
  ~Tokenizer();

  // Checks the block and compiles its patterns; borrows the block. `file` begins an error.
  llmc_status open(const void *block, uint64_t bytes, const char *file, llmc_error *error);

  // Writes the first `capacity` tokens of `text` and says how many there are.
  llmc_status encode(Text text, uint32_t flags, int32_t *tokens, uint64_t capacity,
                     uint64_t &needed, llmc_error *error) const;
  // Writes the first `capacity` bytes of the text of `tokens` and says how many there are. Ids
  // without a token give nothing.
  uint64_t decode(Span<int32_t> tokens, uint32_t flags, char *text, uint64_t capacity) const;

  // Appends what the normaliser makes of well-formed `text`; false when that takes too much work or
  // memory. For the compiler: added tokens may be looked for in normalised text.
  bool normalise(Text text, Array<char> &result) const;

  const Tables &tables() const { return table; }

private:
  friend class Encoder;
  llmc_status compilePatterns(const char *file, llmc_error *error);

  const Allocator &allocator;
  Tables table;
  // One for each step, normalisers first; empty for a step without a regular expression.
  Pattern *patterns = nullptr;
  size_t nPatterns = 0;
  Pattern wordCharacter; // only where an added token must be a single word
  bool hasSingleWords = false;
  bool rawStarts[256] = {}; // first bytes of added tokens
  bool normalizedStarts[256] = {};
};

} // namespace llmc::text
