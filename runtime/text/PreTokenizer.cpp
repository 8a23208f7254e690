// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/EachMatch.h"
#include "runtime/text/Utf8.h"

namespace llmc::text {

namespace {

// Takes matches and what lies between them in turn and makes words of them, each behaviour as the
// `tokenizers` library has it. Empty words are left out.
class Splitter {
public:
  Splitter(Array<Range> &out, uint32_t offset, uint32_t behavior, bool invert)
      : out(out), offset(offset), behavior(behavior), invert(invert) {}
  ~Splitter() { flush(); }

  void part(size_t begin, size_t end, bool isMatch) {
    const Range range{offset + static_cast<uint32_t>(begin), offset + static_cast<uint32_t>(end)};
    take(range, isMatch != invert);
  }

private:
  void take(Range range, bool isMatch) {
    switch (behavior) {
    case LLMC_SPLIT_REMOVED:
      if (!isMatch)
        replace(range);
      break;
    case LLMC_SPLIT_ISOLATED:
      replace(range);
      break;
    case LLMC_SPLIT_CONTIGUOUS:
      join(range, isMatch == previousMatch);
      break;
    case LLMC_SPLIT_MERGED_WITH_PREVIOUS:
      join(range, isMatch && !previousMatch);
      break;
    default: // merged with next: a match waits for what follows, unless that is a match too
      join(range, previousMatch && !isMatch);
    }
    previousMatch = isMatch;
  }
  // The held word grows by `range`, or makes way for it.
  void join(Range range, bool grows) {
    if (grows && holds)
      held.end = range.end;
    else
      replace(range);
  }
  void replace(Range range) {
    flush();
    held = range;
    holds = true;
  }
  void flush() {
    if (holds && held.begin < held.end)
      out.push(held);
    holds = false;
  }

  Array<Range> &out;
  const uint32_t offset;
  const uint32_t behavior;
  const bool invert;
  Range held{};
  bool holds = false;
  bool previousMatch = false;
};

// GPT-2's alphabet: printable Latin-1 is itself, other bytes are U+0100 and up in their order.
struct Alphabet {
  uint16_t character[256];
  uint8_t byte[0x144];
  constexpr Alphabet() : character(), byte() {
    uint16_t next = 0x100;
    for (uint32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b != 0xad);
      character[b] = printable ? static_cast<uint16_t>(b) : next++;
      byte[character[b]] = static_cast<uint8_t>(b);
    }
  }
};
constexpr Alphabet kAlphabet;

} // namespace

Found PreTokenizer::cut(Text whole, bool atStart) {
  text = whole;
  firstAtStart = atStart;
  inAlphabet = false;
  words.clear();
  words.push({0, static_cast<uint32_t>(whole.size)});
  for (size_t i = 0; i < tables.preTokenizer.size && !failed(); ++i) {
    const llmc_tokenizer_step &step = tables.preTokenizer[i];
    if (step.kind == LLMC_TEXT_BYTES)
      toBytes(i + 1 == tables.preTokenizer.size);
    else if (step.kind == LLMC_TEXT_PREFIX_SPACE)
      prefixSpaces();
    else if (step.kind == LLMC_TEXT_METASPACE)
      metaspace(step);
    else if (const Found found = split(step, searches + i); found != Found::Nothing)
      return found;
  }
  return failed() ? Found::OutOfMemory : Found::Nothing;
}

Found PreTokenizer::split(const llmc_tokenizer_step &step, Search *search) {
  nextWords.clear();
  for (const Range &range : words) {
    Splitter splitter(nextWords, range.begin, step.option, step.flags & LLMC_TEXT_INVERT);
    const Found found = eachMatch(
        piece(range), step, tables.string(step.pattern), search,
        [&](size_t begin, size_t end) {
          if (begin < end)
            splitter.part(begin, end, false);
        },
        [&](size_t begin, size_t end) { splitter.part(begin, end, true); });
    if (found != Found::Nothing)
      return found;
  }
  words.swap(nextWords);
  firstAtStart &= !words.empty() && words[0].begin == 0;
  return Found::Nothing;
}

// A step has filled nextBuffer and nextWords.
void PreTokenizer::rewritten() {
  buffer.swap(nextBuffer);
  words.swap(nextWords);
  text = {buffer.data(), buffer.size()};
}

void PreTokenizer::prefixSpaces() {
  nextBuffer.clear();
  nextWords.clear();
  for (const Range &range : words) {
    const auto begin = static_cast<uint32_t>(nextBuffer.size());
    const Text from = piece(range);
    if (from[0] != ' ')
      nextBuffer.push(' ');
    nextBuffer.append(from.data, from.size);
    nextWords.push({begin, static_cast<uint32_t>(nextBuffer.size())});
  }
  rewritten();
}

void PreTokenizer::toBytes(bool last) {
  if (last)
    return; // words are bytes already
  nextBuffer.clear();
  nextWords.clear();
  for (const Range &range : words) {
    const auto begin = static_cast<uint32_t>(nextBuffer.size());
    for (char byte : piece(range))
      appendCodePoint(nextBuffer, kAlphabet.character[static_cast<unsigned char>(byte)]);
    nextWords.push({begin, static_cast<uint32_t>(nextBuffer.size())});
  }
  inAlphabet = true;
  rewritten();
}

void PreTokenizer::metaspace(const llmc_tokenizer_step &step) {
  const Text mark = tables.string(step.text);
  nextBuffer.clear();
  nextWords.clear();
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t begin = nextBuffer.size();
    const Text from = piece(words[i]);
    const bool wanted = step.option == LLMC_PREPEND_ALWAYS ||
                        (step.option == LLMC_PREPEND_FIRST && i == 0 && firstAtStart);
    if (wanted && from[0] != ' ' && !startsWith(from, mark))
      nextBuffer.append(mark.data, mark.size);
    for (char byte : from)
      if (byte == ' ')
        nextBuffer.append(mark.data, mark.size);
      else
        nextBuffer.push(byte);
    if (step.flags & LLMC_TEXT_CUT)
      cutBeforeMarks(begin, mark);
    else
      nextWords.push({static_cast<uint32_t>(begin), static_cast<uint32_t>(nextBuffer.size())});
  }
  rewritten();
}

void PreTokenizer::cutBeforeMarks(size_t begin, Text mark) {
  if (nextBuffer.failed())
    return;
  const Text made{nextBuffer.data(), nextBuffer.size()};
  for (size_t at = begin; at < made.size;) {
    size_t next = at + (startsWith(made.part(at, made.size), mark) ? mark.size : 0);
    while (next < made.size && !startsWith(made.part(next, made.size), mark))
      next += characterBytes(made[next]);
    nextWords.push({static_cast<uint32_t>(at), static_cast<uint32_t>(next)});
    at = next;
  }
}

Text PreTokenizer::word(size_t index) {
  const Text from = piece(words[index]);
  if (!inAlphabet)
    return from;
  bytes.clear();
  for (size_t at = 0; at < from.size; at += characterBytes(from[at]))
    bytes.push(static_cast<char>(kAlphabet.byte[codePoint(from.data + at)]));
  return {bytes.data(), bytes.size()};
}

} // namespace llmc::text
