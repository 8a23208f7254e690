// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/Encoder.h"
#include "runtime/engine/Error.h"
#include "runtime/text/EachMatch.h"
#include "runtime/text/Utf8.h"

namespace llmc::text {

namespace {

// Memory for the searches; they are needed before the members that use them.
Search *makeSearches(const Allocator &allocator, size_t count) {
  auto *searches =
      count ? static_cast<Search *>(allocator.allocate(count * sizeof(Search))) : nullptr;
  for (size_t i = 0; searches && i < count; ++i)
    new (searches + i) Search();
  return searches;
}

bool isCharacterStart(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// The child of a node for a byte, or 0: the root is nobody's child.
uint32_t childOf(const Trie &trie, uint32_t node, unsigned char byte) {
  const llmc_tokenizer_node &from = trie.nodes[node];
  uint32_t low = from.first_edge;
  uint32_t high = low + from.n_edges;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (trie.edges[middle].byte < byte)
      low = middle + 1;
    else
      high = middle;
  }
  const bool found = low < from.first_edge + from.n_edges && trie.edges[low].byte == byte;
  return found ? trie.edges[low].child : 0;
}

} // namespace

Encoder::Encoder(const Tokenizer &tokenizer, uint32_t flags, int32_t *tokens, uint64_t capacity)
    : tokenizer(tokenizer), tables(tokenizer.table), flags(flags), out(tokens), capacity(capacity),
      searches(makeSearches(tokenizer.allocator, tokenizer.nPatterns)), clean(tokenizer.allocator),
      normalized(tokenizer.allocator), nextNormalized(tokenizer.allocator),
      pieces(tokenizer.allocator), normalForm(tokenizer.allocator),
      preTokenizer(tables, searches + (searches ? tables.normalizer.size : 0), tokenizer.allocator),
      merger(tables, tokenizer.allocator) {}

Encoder::~Encoder() {
  if (!searches)
    return;
  for (size_t i = 0; i < tokenizer.nPatterns; ++i)
    searches[i].~Search();
  tokenizer.allocator.release(searches, tokenizer.nPatterns * sizeof(Search));
}

bool Encoder::prepare(Text text) {
  if (tokenizer.nPatterns && !searches)
    return false;
  for (size_t i = 0; i < tokenizer.nPatterns; ++i)
    if (tokenizer.patterns[i].isCompiled() &&
        !searches[i].prepare(tokenizer.patterns[i], text.size))
      return false;
  return !tokenizer.hasSingleWords || wordCharacter.prepare(tokenizer.wordCharacter, text.size);
}

bool Encoder::normaliseAlone(Text text, Array<char> &result) {
  Text made;
  if (!prepare(text) || normalise(text, made) != Found::Nothing)
    return false;
  result.append(made.data, made.size);
  return !result.failed();
}

void Encoder::emit(uint32_t token) {
  if (count < capacity)
    out[count] = static_cast<int32_t>(token);
  ++count;
}

llmc_status Encoder::explain(Found found, size_t bytes, llmc_error *error) const {
  if (found == Found::TooMuchWork)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "encode: error: found a pattern in the tokenizer that takes more steps on this "
                "text of %zu bytes than its length justifies, expected a bounded search; shorten "
                "the text or correct the model's tokenizer",
                bytes);
  return fail(error, LLMC_OUT_OF_MEMORY, "encode: error: no memory for a text of %zu bytes", bytes);
}

llmc_status Encoder::encode(Text text, uint64_t &needed, llmc_error *error) {
  if (!isWellFormed(text)) {
    appendWellFormed(clean, text);
    if (clean.failed())
      return explain(Found::OutOfMemory, text.size, error);
    text = {clean.data(), clean.size()};
  }
  if (!prepare(text))
    return explain(Found::OutOfMemory, text.size, error);
  if (flags & LLMC_ENCODE_ADD_SPECIAL)
    for (uint32_t token : tables.prefix)
      emit(token);
  const Found found = wellFormed(text);
  if (found != Found::Nothing)
    return explain(found, text.size, error);
  if (flags & LLMC_ENCODE_ADD_SPECIAL)
    for (uint32_t token : tables.suffix)
      emit(token);
  needed = count;
  return LLMC_OK;
}

Found Encoder::wellFormed(Text text) {
  return cutAddedTokens(text, tables.raw, tokenizer.rawStarts, [&](size_t begin, size_t end) {
    return between(text.part(begin, end), begin == 0);
  });
}

Found Encoder::between(Text text, bool atStart) {
  Text result;
  if (const Found found = normalise(text, result); found != Found::Nothing)
    return found;
  return cutAddedTokens(result, tables.normalized, tokenizer.normalizedStarts,
                        [&](size_t begin, size_t end) {
                          return words(result.part(begin, end), atStart && begin == 0);
                        });
}

Found Encoder::normalise(Text text, Text &result) {
  result = text;
  for (size_t i = 0; i < tables.normalizer.size; ++i) {
    const llmc_tokenizer_step &step = tables.normalizer[i];
    const Text content = tables.string(step.text);
    nextNormalized.clear();
    switch (step.kind) {
    case LLMC_TEXT_STRIP_LEFT:
      result = result.part(whiteSpaceAtStart(result), result.size);
      continue;
    case LLMC_TEXT_STRIP_RIGHT:
      result = result.part(0, result.size - whiteSpaceAtEnd(result));
      continue;
    case LLMC_TEXT_PREPEND:
      if (result.empty())
        continue;
      nextNormalized.append(content.data, content.size);
      nextNormalized.append(result.data, result.size);
      break;
    case LLMC_TEXT_REPLACE: {
      const Found found = eachMatch(
          result, step, tables.string(step.pattern), searches + i,
          [&](size_t begin, size_t end) {
            nextNormalized.append(result.data + begin, end - begin);
          },
          [&](size_t, size_t) { nextNormalized.append(content.data, content.size); });
      if (found != Found::Nothing)
        return found;
      break;
    }
    default:
      normalForm.append(nextNormalized, result, step.kind);
    }
    if (nextNormalized.failed() || normalForm.failed() || nextNormalized.size() > kMaxTextBytes)
      return Found::OutOfMemory;
    normalized.swap(nextNormalized);
    result = {normalized.data(), normalized.size()};
  }
  return Found::Nothing;
}

Found Encoder::words(Text text, bool atStart) {
  if (const Found found = preTokenizer.cut(text, atStart); found != Found::Nothing)
    return found;
  for (size_t i = 0; i < preTokenizer.count(); ++i) {
    pieces.clear();
    merger.encode(preTokenizer.word(i), pieces);
    for (uint32_t token : pieces)
      emit(token);
  }
  const bool failed = preTokenizer.failed() || merger.failed() || pieces.failed();
  return failed ? Found::OutOfMemory : Found::Nothing;
}

// The longest added token at the start of `text`; its index, or kNone. Only whole characters count,
// whatever damaged tables say: what is between tokens must stay well-formed.
uint32_t Encoder::longestAdded(const Trie &trie, Text text, size_t &end) const {
  uint32_t found = kNone;
  uint32_t node = 0;
  for (size_t at = 0; at < text.size; ++at) {
    node = childOf(trie, node, static_cast<unsigned char>(text[at]));
    if (!node)
      break;
    const bool isEnd = at + 1 == text.size || isCharacterStart(text[at + 1]);
    if (trie.nodes[node].added != kNone && isEnd) {
      found = trie.nodes[node].added;
      end = at + 1;
    }
  }
  return found;
}

bool Encoder::isWordCharacter(Text character) {
  Match match;
  return wordCharacter.next(character, 0, match) == Found::Match;
}

bool Encoder::standsAlone(Text text, size_t begin, size_t end) {
  size_t before = begin;
  while (before && (static_cast<unsigned char>(text[--before]) & 0xc0) == 0x80) {
  }
  if (begin && isWordCharacter(text.part(before, begin)))
    return false;
  return end == text.size || !isWordCharacter(text.part(end, end + characterBytes(text[end])));
}

// As the `tokenizers` library: matches are found first, leftmost and longest, one behind the other;
// only then may one be passed over, and white space at its sides be taken along.
template <typename OnText>
Found Encoder::cutAddedTokens(Text text, const Trie &trie, const bool *starts, OnText &&onText) {
  size_t done = 0;
  for (size_t at = 0; at < text.size;) {
    size_t length = 0;
    const bool mayStart =
        starts[static_cast<unsigned char>(text[at])] && isCharacterStart(text[at]);
    const uint32_t index = mayStart ? longestAdded(trie, text.part(at, text.size), length) : kNone;
    if (index == kNone) {
      ++at;
      continue;
    }
    const llmc_tokenizer_added &added = tables.added[index];
    size_t begin = at;
    size_t end = at + length;
    at = end;
    if (added.flags & LLMC_ADDED_SPECIAL && !(flags & LLMC_ENCODE_PARSE_SPECIAL))
      continue;
    if (added.flags & LLMC_ADDED_SINGLE_WORD && !standsAlone(text, begin, end))
      continue;
    if (added.flags & LLMC_ADDED_LSTRIP) {
      const size_t stripped = begin - whiteSpaceAtEnd(text.part(0, begin));
      begin = stripped > done ? stripped : done;
    }
    if (added.flags & LLMC_ADDED_RSTRIP)
      end += whiteSpaceAtStart(text.part(end, text.size));
    if (done < begin)
      if (const Found found = onText(done, begin); found != Found::Nothing)
        return found;
    emit(added.token);
    done = end;
  }
  return done < text.size ? onText(done, text.size) : Found::Nothing;
}

bool Tokenizer::normalise(Text text, Array<char> &result) const {
  return Encoder(*this, 0, nullptr, 0).normaliseAlone(text, result);
}

llmc_status Tokenizer::encode(Text text, uint32_t flags, int32_t *tokens, uint64_t capacity,
                              uint64_t &needed, llmc_error *error) const {
  if (text.size > kMaxTextBytes)
    return fail(error, LLMC_INVALID_ARGUMENT,
                "encode: error: found a text of %zu bytes, expected at most %llu", text.size,
                static_cast<unsigned long long>(kMaxTextBytes));
  return Encoder(*this, flags, tokens, capacity).encode(text, needed, error);
}

} // namespace llmc::text
