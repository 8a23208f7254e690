// SPDX-License-Identifier: Apache-2.0
// One call of encode: added tokens are cut out of the text, what is between them is normalised,
// searched for added tokens once more, cut into words, and each word merged.
#pragma once

#include "runtime/text/Normalize.h"
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/Tokenizer.h"
#include "runtime/text/WordMerger.h"

namespace llmc::text {

class Encoder {
public:
  Encoder(const Tokenizer &tokenizer, uint32_t flags, int32_t *tokens, uint64_t capacity);
  ~Encoder();

  llmc_status encode(Text text, uint64_t &needed, llmc_error *error);
  bool normaliseAlone(Text text, Array<char> &result);

private:
  bool prepare(Text text);
  llmc_status explain(Found found, size_t bytes, llmc_error *error) const;
  void emit(uint32_t token);

  Found wellFormed(Text text);
  Found between(Text text, bool atStart); // added tokens of the raw text
  Found normalise(Text text, Text &result);
  Found words(Text text, bool atStart);

  // Calls `onText(begin, end)` and emits tokens, in the order of the text.
  template <typename OnText>
  Found cutAddedTokens(Text text, const Trie &trie, const bool *starts, OnText &&onText);
  uint32_t longestAdded(const Trie &trie, Text text, size_t &end) const;
  bool standsAlone(Text text, size_t begin, size_t end);
  bool isWordCharacter(Text character);

  const Tokenizer &tokenizer;
  const Tables &tables;
  const uint32_t flags;
  int32_t *out;
  const uint64_t capacity;
  uint64_t count = 0;

  Search *searches = nullptr; // one for each step
  Search wordCharacter;
  Array<char> clean;
  Array<char> normalized;
  Array<char> nextNormalized;
  Array<uint32_t> pieces;
  NormalForm normalForm;
  PreTokenizer preTokenizer;
  WordMerger merger;
};

} // namespace llmc::text
