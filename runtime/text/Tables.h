// SPDX-License-Identifier: Apache-2.0
// The tokenizer's block, checked and with its spans as pointers. After `readTables` nothing in the
// tables needs to be checked again: ids, ranges and trie nodes lie inside, token texts of
// characters are UTF-8, and each hash table has an empty slot at which a search ends.
#pragma once

#include "llmc/llmc.h"
#include "llmc/tokenizer_abi.h"
#include "runtime/text/Span.h"

namespace llmc::text {

constexpr uint32_t kNone = LLMC_TOKENIZER_NONE;

struct Trie {
  Span<llmc_tokenizer_node> nodes;
  Span<llmc_tokenizer_edge> edges;
};

struct Tables {
  const llmc_tokenizer_header *header = nullptr;
  Span<uint32_t> tokenStarts;
  Text tokenText;
  Span<uint32_t> decodedStarts;
  Text decodedText;
  Span<uint8_t> tokenFlags;
  Span<uint32_t> byteTokens;
  Span<uint32_t> vocabulary;
  Span<llmc_tokenizer_merge> merges;
  Span<llmc_tokenizer_added> added;
  Trie raw;
  Trie normalized;
  Span<llmc_tokenizer_step> normalizer;
  Span<llmc_tokenizer_step> preTokenizer;
  Span<uint32_t> prefix;
  Span<uint32_t> suffix;
  Span<llmc_tokenizer_template> templates;
  Text strings;

  bool has(uint32_t flag) const { return header->flags & flag; }
  bool ofBytes() const { return header->kind == LLMC_TOKENIZER_BYTES; }
  Text string(llmc_tokenizer_string where) const {
    return strings.part(where.begin, where.begin + where.bytes);
  }
  Text token(uint32_t id) const { return tokenText.part(tokenStarts[id], tokenStarts[id + 1]); }
  Text decoded(uint32_t id) const {
    return decodedText.part(decodedStarts[id], decodedStarts[id + 1]);
  }
  // The token of the model's vocabulary with these bytes, or kNone.
  uint32_t find(Text bytes) const;
  // What a pair merges to; null when it does not.
  const llmc_tokenizer_merge *merge(uint32_t left, uint32_t right) const;
};

// Checks `bytes` at `block` and fills `tables`, which borrow from it. `file` begins an error.
llmc_status readTables(const void *block, uint64_t bytes, const char *file, Tables &tables,
                       llmc_error *error);

} // namespace llmc::text
