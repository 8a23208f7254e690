// SPDX-License-Identifier: Apache-2.0
// Every check of the block is here. What a check forgets would be a read out of bounds later, so
// each field of each entry is named.
#include "runtime/text/Tables.h"
#include "runtime/engine/Error.h"
#include "runtime/text/Utf8.h"

namespace llmc::text {

namespace {

// Far above any tokenizer; keeps indices and sums within 32 bits.
constexpr uint32_t kMaxTokens = 1u << 28;
constexpr uint64_t kMaxBlock = uint64_t(1) << 32;
constexpr uint64_t kMaxSteps = 64;

class Reader {
public:
  Reader(const void *block, uint64_t bytes, const char *file, Tables &tables, llmc_error *error)
      : block(static_cast<const char *>(block)), bytes(bytes), file(file), tables(tables),
        error(error) {}

  llmc_status read();

private:
  llmc_status damaged(const char *what) const {
    return fail(error, LLMC_BAD_ARTIFACT,
                "%s: tokenizer: error: found %s out of range, expected it inside the tables of "
                "%llu bytes; the file is damaged, compile it again",
                file, what, static_cast<unsigned long long>(bytes));
  }
  template <typename T> bool take(const llmc_tokenizer_span &from, Span<T> &to) const {
    if (from.offset % alignof(T) || from.offset > bytes ||
        from.count > (bytes - from.offset) / sizeof(T))
      return false;
    to = {reinterpret_cast<const T *>(block + from.offset), static_cast<size_t>(from.count)};
    return true;
  }
  bool take(const llmc_tokenizer_trie &from, Trie &to) const {
    return take(from.nodes, to.nodes) && take(from.edges, to.edges);
  }

  bool isToken(uint32_t id) const { return id < tables.header->n_tokens; }
  bool isTokenOrNone(uint32_t id) const { return id == kNone || isToken(id); }
  bool isString(llmc_tokenizer_string s) const {
    return s.begin <= tables.strings.size && s.bytes <= tables.strings.size - s.begin;
  }
  bool isUtf8(llmc_tokenizer_string s) const { return isWellFormed(tables.string(s)); }

  llmc_status headerAndSpans();
  bool startsAscend(Span<uint32_t> starts, Text text, uint32_t longest) const;
  bool textIsCharacters() const;
  bool idsInside(Span<uint32_t> ids) const;
  bool vocabularyIsSound() const;
  bool mergesAreSound() const;
  bool addedAreSound() const;
  bool trieIsSound(const Trie &trie) const;
  bool stepIsSound(const llmc_tokenizer_step &step, bool normalizer) const;
  bool stepsAreSound(Span<llmc_tokenizer_step> steps, bool normalizer) const;
  bool templatesAreSound() const;

  const char *block;
  const uint64_t bytes;
  const char *file;
  Tables &tables;
  llmc_error *error;
};

llmc_status Reader::headerAndSpans() {
  if (reinterpret_cast<uintptr_t>(block) % LLMC_TOKENIZER_ALIGNMENT ||
      bytes < sizeof(llmc_tokenizer_header) || bytes > kMaxBlock)
    return damaged("the header");
  tables.header = reinterpret_cast<const llmc_tokenizer_header *>(block);
  const llmc_tokenizer_header &h = *tables.header;
  if (memcmp(h.magic, LLMC_TOKENIZER_MAGIC, sizeof h.magic) != 0 || h.bytes != bytes)
    return damaged("the header");
  if (h.version != LLMC_TOKENIZER_VERSION)
    return fail(error, LLMC_BAD_VERSION,
                "%s: tokenizer: error: found tables of version %u, expected %u; compile the model "
                "again or update libllmc",
                file, h.version, LLMC_TOKENIZER_VERSION);
  if (h.kind > LLMC_TOKENIZER_CHARACTERS)
    return damaged("the kind");
  constexpr uint32_t ofCharacters = LLMC_TOKENIZER_JOIN_SPACES | LLMC_TOKENIZER_BYTE_RUNS |
                                    LLMC_TOKENIZER_STRIP_MARK | LLMC_TOKENIZER_CUT_AT_MARK;
  if (h.kind == LLMC_TOKENIZER_BYTES && h.flags & ofCharacters)
    return damaged("the flags");
  if (h.n_tokens == 0 || h.n_tokens > kMaxTokens)
    return damaged("the number of tokens");
  const struct {
    const char *what;
    bool inside;
  } spans[] = {
      {"token_starts", take(h.token_starts, tables.tokenStarts)},
      {"token_text", take(h.token_text, tables.tokenText)},
      {"decoded_starts", take(h.decoded_starts, tables.decodedStarts)},
      {"decoded_text", take(h.decoded_text, tables.decodedText)},
      {"token_flags", take(h.token_flags, tables.tokenFlags)},
      {"byte_tokens", take(h.byte_tokens, tables.byteTokens)},
      {"vocabulary", take(h.vocabulary, tables.vocabulary)},
      {"merges", take(h.merges, tables.merges)},
      {"added", take(h.added, tables.added)},
      {"raw", take(h.raw, tables.raw)},
      {"normalized", take(h.normalized, tables.normalized)},
      {"normalizer", take(h.normalizer, tables.normalizer)},
      {"pre_tokenizer", take(h.pre_tokenizer, tables.preTokenizer)},
      {"prefix", take(h.prefix, tables.prefix)},
      {"suffix", take(h.suffix, tables.suffix)},
      {"templates", take(h.templates, tables.templates)},
      {"strings", take(h.strings, tables.strings)},
  };
  for (const auto &span : spans)
    if (!span.inside)
      return damaged(span.what);
  return LLMC_OK;
}

bool Reader::startsAscend(Span<uint32_t> starts, Text text, uint32_t longest) const {
  if (starts.size != size_t(tables.header->n_tokens) + 1 || starts[0] != 0 ||
      starts[starts.size - 1] != text.size || longest > text.size)
    return false;
  for (size_t i = 1; i < starts.size; ++i)
    if (starts[i] < starts[i - 1] || starts[i] - starts[i - 1] > longest)
      return false;
  return true;
}

// Merges of characters, and what decoding gives but for byte tokens.
bool Reader::textIsCharacters() const {
  if (tables.ofBytes())
    return true;
  for (uint32_t id = 0; id < tables.header->n_tokens; ++id) {
    if (!isWellFormed(tables.token(id)))
      return false;
    const Text decoded = tables.decoded(id);
    const bool isByte =
        tables.has(LLMC_TOKENIZER_BYTE_RUNS) && tables.tokenFlags[id] & LLMC_TOKEN_BYTE;
    if (isByte ? decoded.size != 1 : !isWellFormed(decoded))
      return false;
  }
  return true;
}

bool Reader::idsInside(Span<uint32_t> ids) const {
  for (uint32_t id : ids)
    if (!isToken(id))
      return false;
  return true;
}

bool Reader::vocabularyIsSound() const {
  bool hasEmpty = false;
  for (uint32_t id : tables.vocabulary) {
    if (!isTokenOrNone(id))
      return false;
    hasEmpty |= id == kNone;
  }
  return hasEmpty;
}

bool Reader::mergesAreSound() const {
  bool hasEmpty = false;
  for (const llmc_tokenizer_merge &merge : tables.merges) {
    if (merge.left == kNone)
      hasEmpty = true;
    else if (!isToken(merge.left) || !isToken(merge.right) || !isToken(merge.result))
      return false;
  }
  return hasEmpty;
}

bool Reader::addedAreSound() const {
  for (const llmc_tokenizer_added &added : tables.added)
    if (!isToken(added.token))
      return false;
  return true;
}

bool Reader::trieIsSound(const Trie &trie) const {
  for (size_t i = 0; i < trie.nodes.size; ++i) {
    const llmc_tokenizer_node &node = trie.nodes[i];
    if (node.first_edge > trie.edges.size || node.n_edges > trie.edges.size - node.first_edge ||
        (node.added != kNone && node.added >= tables.added.size) ||
        (i == 0 && node.added != kNone)) // an empty text would be found everywhere
      return false;
    for (uint32_t e = node.first_edge; e < node.first_edge + node.n_edges; ++e) {
      const llmc_tokenizer_edge &edge = trie.edges[e];
      if (edge.child <= i || edge.child >= trie.nodes.size || edge.byte > 0xff ||
          (e > node.first_edge && edge.byte <= trie.edges[e - 1].byte))
        return false;
    }
  }
  return true;
}

bool Reader::stepIsSound(const llmc_tokenizer_step &step, bool normalizer) const {
  if (!isString(step.pattern) || !isString(step.text) || !isUtf8(step.pattern) ||
      !isUtf8(step.text))
    return false;
  switch (step.kind) {
  case LLMC_TEXT_NFC:
  case LLMC_TEXT_NFD:
  case LLMC_TEXT_NFKC:
  case LLMC_TEXT_NFKD:
  case LLMC_TEXT_PREPEND:
  case LLMC_TEXT_STRIP_LEFT:
  case LLMC_TEXT_STRIP_RIGHT:
    return normalizer;
  case LLMC_TEXT_REPLACE:
    return normalizer && step.pattern.bytes > 0;
  case LLMC_TEXT_SPLIT:
    return !normalizer && step.pattern.bytes > 0 && step.option <= LLMC_SPLIT_CONTIGUOUS;
  case LLMC_TEXT_BYTES:
    return !normalizer && tables.ofBytes();
  case LLMC_TEXT_PREFIX_SPACE:
    return !normalizer;
  case LLMC_TEXT_METASPACE:
    return !normalizer && step.text.bytes > 0 && step.option <= LLMC_PREPEND_FIRST;
  default:
    return false;
  }
}

bool Reader::stepsAreSound(Span<llmc_tokenizer_step> steps, bool normalizer) const {
  uint32_t alphabets = 0;
  for (const llmc_tokenizer_step &step : steps) {
    if (!stepIsSound(step, normalizer))
      return false;
    if (alphabets && (step.kind == LLMC_TEXT_METASPACE || step.kind == LLMC_TEXT_PREFIX_SPACE))
      return false; // what they put in is not in the alphabet
    alphabets += step.kind == LLMC_TEXT_BYTES;
  }
  return steps.size <= kMaxSteps && alphabets == (!normalizer && tables.ofBytes() ? 1 : 0);
}

bool Reader::templatesAreSound() const {
  for (const llmc_tokenizer_template &item : tables.templates)
    if (!isString(item.name) || !isString(item.text))
      return false;
  return true;
}

llmc_status Reader::read() {
  if (llmc_status status = headerAndSpans())
    return status;
  const llmc_tokenizer_header &h = *tables.header;
  if (!startsAscend(tables.tokenStarts, tables.tokenText, h.longest_text))
    return damaged("token_starts");
  if (!startsAscend(tables.decodedStarts, tables.decodedText, h.longest_decoded))
    return damaged("decoded_starts");
  if (tables.tokenFlags.size != h.n_tokens || tables.byteTokens.size != 256)
    return damaged("a table's length");
  if (!textIsCharacters())
    return damaged("a token's text");
  for (uint32_t id : tables.byteTokens)
    if (!isTokenOrNone(id))
      return damaged("a byte's token");
  for (uint32_t id : {h.bos, h.eos, h.unk, h.pad})
    if (!isTokenOrNone(id))
      return damaged("a special token");
  if (!idsInside(tables.prefix) || !idsInside(tables.suffix))
    return damaged("a token before or after the text");
  if (!vocabularyIsSound())
    return damaged("vocabulary");
  if (!mergesAreSound())
    return damaged("merges");
  if (!addedAreSound())
    return damaged("added");
  if (!trieIsSound(tables.raw) || !trieIsSound(tables.normalized))
    return damaged("a trie's node");
  if (!isString(h.mark) || !isString(h.strip) || !isUtf8(h.mark) || !isUtf8(h.strip) ||
      (h.strip_count && !h.strip.bytes) ||
      (h.flags & (LLMC_TOKENIZER_STRIP_MARK | LLMC_TOKENIZER_CUT_AT_MARK) && !h.mark.bytes))
    return damaged("a string");
  if (!stepsAreSound(tables.normalizer, true) || !stepsAreSound(tables.preTokenizer, false))
    return damaged("a step");
  if (!templatesAreSound())
    return damaged("a template");
  return LLMC_OK;
}

} // namespace

uint32_t Tables::find(Text bytes) const {
  const uint64_t slots = vocabulary.size;
  uint64_t at = llmc_tokenizer_slot(llmc_tokenizer_text_hash(bytes.data, bytes.size), slots);
  while (vocabulary[at] != kNone && !equal(token(vocabulary[at]), bytes))
    at = at + 1 == slots ? 0 : at + 1;
  return vocabulary[at];
}

const llmc_tokenizer_merge *Tables::merge(uint32_t left, uint32_t right) const {
  const uint64_t slots = merges.size;
  uint64_t at = llmc_tokenizer_slot(llmc_tokenizer_pair_hash(left, right), slots);
  while (merges[at].left != kNone) {
    if (merges[at].left == left && merges[at].right == right)
      return &merges[at];
    at = at + 1 == slots ? 0 : at + 1;
  }
  return nullptr;
}

llmc_status readTables(const void *block, uint64_t bytes, const char *file, Tables &tables,
                       llmc_error *error) {
  return Reader(block, bytes, file, tables, error).read();
}

} // namespace llmc::text
