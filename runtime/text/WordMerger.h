// SPDX-License-Identifier: Apache-2.0
// Byte pair encoding of one word: its first symbols, then the pair of lowest rank merges, the
// leftmost among equals, until none does. n log n in the word's length.
#pragma once

#include "runtime/text/Array.h"
#include "runtime/text/Tables.h"

namespace llmc::text {

class WordMerger {
public:
  WordMerger(const Tables &tables, const Allocator &allocator)
      : tables(tables), symbols(allocator), ranks(allocator), links(allocator), heap(allocator) {}

  // Appends the tokens of `word` to `out`. Characters: `word` is well-formed.
  void encode(Text word, Array<uint32_t> &out);
  // The same without looking the word up as a whole (for the compiler, which finds out which tokens
  // may be looked up).
  void merge(Text word, Array<uint32_t> &out);
  bool failed() const {
    return symbols.failed() || ranks.failed() || links.failed() || heap.failed();
  }

private:
  struct Link {
    uint32_t previous;
    uint32_t next;
  };
  struct Candidate {
    uint32_t rank;
    uint32_t place; // of the left symbol
    uint32_t result;
    bool before(const Candidate &other) const {
      return rank != other.rank ? rank < other.rank : place < other.place;
    }
  };

  void cutAtMarks(Text word, Array<uint32_t> &out);
  void symbolsOfBytes(Text word);
  void symbolsOfCharacters(Text word);
  bool fallBackToBytes(Text character);
  uint32_t rankOf(size_t place) const;
  void mergeShort();
  void mergeLong();
  void consider(uint32_t left, uint32_t right);
  void push(const Candidate &candidate);
  Candidate popFirst();

  const Tables &tables;
  Array<uint32_t> symbols;
  Array<uint32_t> ranks; // of the pair that starts here
  Array<Link> links;
  Array<Candidate> heap;
};

} // namespace llmc::text
