// SPDX-License-Identifier: Apache-2.0
// Cuts a normalised text into words, step by step as the tables say.
#pragma once

#include "runtime/text/Array.h"
#include "runtime/text/Pattern.h"
#include "runtime/text/Tables.h"

namespace llmc::text {

struct Range {
  uint32_t begin;
  uint32_t end;
};

class PreTokenizer {
public:
  // `searches` has one prepared search for each step with a regular expression.
  PreTokenizer(const Tables &tables, Search *searches, const Allocator &allocator)
      : tables(tables), searches(searches), words(allocator), nextWords(allocator),
        buffer(allocator), nextBuffer(allocator), bytes(allocator) {}

  // Cuts `text`, well-formed and not empty. `atStart`: it begins the whole text that is encoded.
  // The result is borrowed until the next call.
  Found cut(Text text, bool atStart);
  size_t count() const { return words.size(); }
  // ByteLevel: bytes, of which some may be no UTF-8. Borrowed until the next call of either.
  Text word(size_t index);
  bool failed() const {
    return words.failed() || nextWords.failed() || buffer.failed() || nextBuffer.failed() ||
           bytes.failed();
  }

private:
  Found split(const llmc_tokenizer_step &step, Search *search);
  void prefixSpaces();
  void toBytes(bool last);
  void metaspace(const llmc_tokenizer_step &step);
  void cutBeforeMarks(size_t begin, Text mark);
  void rewritten();
  Text piece(Range range) const { return text.part(range.begin, range.end); }

  const Tables &tables;
  Search *searches;
  Text text; // what the ranges are of: the caller's, or `buffer`
  Array<Range> words;
  Array<Range> nextWords;
  Array<char> buffer;
  Array<char> nextBuffer;
  Array<char> bytes;
  bool firstAtStart = false; // the first word begins the whole text
  bool inAlphabet = false;   // words are in GPT-2's alphabet
};

} // namespace llmc::text
