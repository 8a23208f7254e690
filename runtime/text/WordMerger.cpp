// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/WordMerger.h"
#include "runtime/text/Utf8.h"

namespace llmc::text {

namespace {

// Up to here looking at all pairs for each merge is faster than a heap.
constexpr size_t kShortWord = 40;
constexpr uint32_t kNoRank = UINT32_MAX;

} // namespace

void WordMerger::encode(Text word, Array<uint32_t> &out) {
  if (word.size <= tables.header->longest_text) {
    const uint32_t whole = tables.find(word);
    if (whole != kNone &&
        (tables.has(LLMC_TOKENIZER_IGNORE_MERGES) || tables.tokenFlags[whole] & LLMC_TOKEN_WHOLE)) {
      out.push(whole);
      return;
    }
  }
  if (tables.has(LLMC_TOKENIZER_CUT_AT_MARK))
    cutAtMarks(word, out);
  else
    merge(word, out);
}

// Nothing merges across the front of a mark that follows another symbol, so what stands between
// such places is merged by itself, which gives the same and keeps words short.
void WordMerger::cutAtMarks(Text word, Array<uint32_t> &out) {
  const Text mark = tables.string(tables.header->mark);
  size_t begin = 0;
  bool afterMark = true; // a mark at the very start needs no cut
  for (size_t at = 0; at < word.size;) {
    const bool isMark = startsWith(word.part(at, word.size), mark);
    if (isMark && !afterMark) {
      const Text piece = word.part(begin, at);
      const uint32_t whole = piece.size <= tables.header->longest_text ? tables.find(piece) : kNone;
      if (whole != kNone && tables.tokenFlags[whole] & LLMC_TOKEN_WHOLE)
        out.push(whole);
      else
        merge(piece, out);
      begin = at;
    }
    afterMark = isMark;
    at += isMark ? mark.size : characterBytes(word[at]);
  }
  merge(word.part(begin, word.size), out);
}

void WordMerger::merge(Text word, Array<uint32_t> &out) {
  symbols.clear();
  if (tables.ofBytes())
    symbolsOfBytes(word);
  else
    symbolsOfCharacters(word);
  if (symbols.size() <= kShortWord)
    mergeShort();
  else
    mergeLong();
  out.append(symbols.data(), symbols.size());
}

void WordMerger::symbolsOfBytes(Text word) {
  for (char byte : word) {
    const uint32_t token = tables.byteTokens[static_cast<unsigned char>(byte)];
    if (token != kNone) // a byte that is no token is dropped
      symbols.push(token);
  }
}

// Unknown characters wait, as in the `tokenizers` library: one is put behind the byte tokens of
// characters that follow it, and before the next known one.
void WordMerger::symbolsOfCharacters(Text word) {
  const uint32_t unknown = tables.header->unk;
  bool waiting = false;
  for (size_t at = 0; at < word.size;) {
    const size_t bytes = characterBytes(word[at]);
    const Text character = word.part(at, at + bytes);
    at += bytes;
    const uint32_t token = tables.find(character);
    if (token != kNone) {
      if (waiting)
        symbols.push(unknown);
      waiting = false;
      symbols.push(token);
    } else if (!fallBackToBytes(character) && unknown != kNone) {
      if (waiting && !tables.has(LLMC_TOKENIZER_FUSE_UNKNOWN))
        symbols.push(unknown);
      waiting = true;
    }
  }
  if (waiting)
    symbols.push(unknown);
}

bool WordMerger::fallBackToBytes(Text character) {
  if (!tables.has(LLMC_TOKENIZER_BYTE_FALLBACK))
    return false;
  for (char byte : character)
    if (tables.byteTokens[static_cast<unsigned char>(byte)] == kNone)
      return false;
  for (char byte : character)
    symbols.push(tables.byteTokens[static_cast<unsigned char>(byte)]);
  return true;
}

uint32_t WordMerger::rankOf(size_t place) const {
  if (place + 1 >= symbols.size())
    return kNoRank;
  const llmc_tokenizer_merge *found = tables.merge(symbols[place], symbols[place + 1]);
  return found ? found->rank : kNoRank;
}

void WordMerger::mergeShort() {
  size_t count = symbols.size();
  ranks.clear();
  if (count < 2 || !ranks.extend(count))
    return;
  for (size_t i = 0; i < count; ++i)
    ranks[i] = rankOf(i);
  for (;;) {
    size_t best = 0;
    for (size_t i = 1; i < count; ++i)
      if (ranks[i] < ranks[best])
        best = i;
    if (ranks[best] == kNoRank)
      return;
    symbols[best] = tables.merge(symbols[best], symbols[best + 1])->result;
    const size_t rest = count - best - 2;
    memmove(&symbols[best + 1], &symbols[best + 1] + 1, rest * sizeof(uint32_t));
    memmove(&ranks[best + 1], &ranks[best + 1] + 1, rest * sizeof(uint32_t));
    symbols.shrink(--count);
    ranks.shrink(count);
    ranks[best] = rankOf(best);
    if (best)
      ranks[best - 1] = rankOf(best - 1);
  }
}

void WordMerger::push(const Candidate &candidate) {
  size_t at = heap.size();
  heap.push(candidate);
  if (heap.failed())
    return;
  for (; at && candidate.before(heap[(at - 1) / 2]); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = candidate;
}

WordMerger::Candidate WordMerger::popFirst() {
  const Candidate first = heap[0];
  const Candidate last = heap.back();
  heap.pop();
  const size_t count = heap.size();
  size_t at = 0;
  for (size_t child = 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && heap[child + 1].before(heap[child]))
      ++child;
    if (!heap[child].before(last))
      break;
    heap[at] = heap[child];
    at = child;
  }
  if (count)
    heap[at] = last;
  return first;
}

void WordMerger::consider(uint32_t left, uint32_t right) {
  if (left == kNone || right == kNone)
    return;
  if (const llmc_tokenizer_merge *found = tables.merge(symbols[left], symbols[right]))
    push({found->rank, left, found->result});
}

// Symbols stay in their places and are linked; a symbol that was merged into its left neighbour
// becomes kNone. A candidate counts only while its pair still gives its result.
void WordMerger::mergeLong() {
  const size_t count = symbols.size();
  links.clear();
  heap.clear();
  if (!links.extend(count) || !heap.reserve(count))
    return;
  for (uint32_t i = 0; i < count; ++i)
    links[i] = {i ? i - 1 : kNone, i + 1 < count ? i + 1 : kNone};
  for (uint32_t i = 0; i + 1 < count; ++i)
    consider(i, i + 1);
  while (!heap.empty() && !heap.failed()) {
    const Candidate candidate = popFirst();
    const uint32_t left = candidate.place;
    const uint32_t right = links[left].next;
    if (symbols[left] == kNone || right == kNone)
      continue;
    const llmc_tokenizer_merge *found = tables.merge(symbols[left], symbols[right]);
    if (!found || found->result != candidate.result)
      continue;
    symbols[left] = candidate.result;
    symbols[right] = kNone;
    links[left].next = links[right].next;
    if (links[right].next != kNone)
      links[links[right].next].previous = left;
    consider(links[left].previous, left);
    consider(left, links[left].next);
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i)
    if (symbols[i] != kNone)
      symbols[kept++] = symbols[i];
  symbols.shrink(kept);
}

} // namespace llmc::text
