// SPDX-License-Identifier: Apache-2.0
// GPT-2's printable alphabet, SentencePiece's usual steps, and what is wrong with a spec.
#include "dialects/model/TokenizerSpec.h"

#include <array>

namespace llmc::model {

namespace {

// Printable Latin-1 stands for itself, the other bytes for U+0100 and up, in their order.
struct ByteAlphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 0x144> byte{}; // by character; -1: not in the alphabet

  ByteAlphabet() {
    byte.fill(-1);
    uint16_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      const bool printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b != 0xad);
      character[b] = printable ? static_cast<uint16_t>(b) : next++;
      byte[character[b]] = static_cast<int16_t>(b);
    }
  }
};

const ByteAlphabet &alphabet() {
  static const ByteAlphabet table;
  return table;
}

Error problem(std::string_view file, std::string_view place, const std::string &where,
              const std::string &text) {
  return errorAt(file, std::string(place) + where, text);
}

std::string range(const TokenizerSpec &spec) {
  return "expected 0 to " + std::to_string(spec.tokens.size() - 1);
}

} // namespace

bool fromByteAlphabet(std::string_view text, std::string &bytes) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned character = static_cast<unsigned char>(text[i]);
    if (character >= 0x80) { // Two bytes of UTF-8 reach up to U+07FF, the alphabet to U+0143.
      if (character < 0xc2 || character > 0xdf || i + 1 == text.size())
        return false;
      character = (character & 0x1f) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f);
    }
    if (character >= alphabet().byte.size() || alphabet().byte[character] < 0)
      return false;
    result += static_cast<char>(alphabet().byte[character]);
  }
  bytes = std::move(result);
  return true;
}

std::string toByteAlphabet(std::string_view bytes) {
  std::string text;
  for (char b : bytes) {
    const unsigned character = alphabet().character[static_cast<unsigned char>(b)];
    if (character < 0x80) {
      text += static_cast<char>(character);
    } else {
      text += static_cast<char>(0xc0 | character >> 6);
      text += static_cast<char>(0x80 | (character & 0x3f));
    }
  }
  return text;
}

void applySentencePieceSteps(TokenizerSpec &spec, bool addSpacePrefix) {
  const std::string mark = "\xe2\x96\x81";
  spec.kind = TokenizerKind::Characters;
  spec.byteFallback = true;
  spec.fuseUnknown = true;
  spec.normalizer.clear();
  spec.preTokenizer.clear();
  spec.decoder.clear();
  if (addSpacePrefix)
    spec.normalizer.push_back({NormalizerStep::Kind::Prepend, {}, mark});
  spec.normalizer.push_back({NormalizerStep::Kind::Replace, {" ", false}, mark});
  DecoderStep replace{DecoderStep::Kind::Replace};
  replace.pattern = {mark, false};
  replace.content = " ";
  spec.decoder.push_back(replace);
  spec.decoder.push_back({DecoderStep::Kind::ByteFallback});
  spec.decoder.push_back({DecoderStep::Kind::Fuse});
  if (!addSpacePrefix)
    return;
  DecoderStep strip{DecoderStep::Kind::Strip};
  strip.content = " ";
  strip.start = 1;
  spec.decoder.push_back(strip);
}

void applyByteLevelDecoder(TokenizerSpec &spec) {
  spec.kind = TokenizerKind::ByteLevel;
  spec.decoder.assign(1, DecoderStep{DecoderStep::Kind::ByteLevel});
}

Status validate(const TokenizerSpec &spec, std::string_view file, std::string_view place) {
  const auto count = static_cast<int64_t>(spec.tokens.size());
  if (count == 0)
    return problem(file, place, "", "found an empty vocabulary, expected at least one token");
  if (count > INT32_MAX / 2)
    return problem(file, place, "",
                   "found " + std::to_string(count) + " tokens, expected at most " +
                       std::to_string(INT32_MAX / 2));
  auto inside = [&](int32_t id) { return id >= 0 && id < count; };
  const std::pair<const char *, int32_t> named[] = {
      {"bos", spec.bosId}, {"eos", spec.eosId}, {"unk", spec.unkId}, {"pad", spec.padId}};
  for (const auto &[what, id] : named)
    if (id != -1 && !inside(id))
      return problem(file, place, std::string("/") + what,
                     "found token id " + std::to_string(id) + ", " + range(spec));
  for (const std::vector<int32_t> *ids : {&spec.prefix, &spec.suffix})
    for (int32_t id : *ids)
      if (!inside(id))
        return problem(file, place, ids == &spec.prefix ? "/prefix" : "/suffix",
                       "found token id " + std::to_string(id) + ", " + range(spec));
  for (size_t i = 0; i < spec.merges.size(); ++i) {
    const Merge &merge = spec.merges[i];
    const std::string where = "/merges/" + std::to_string(i);
    for (int32_t id : {merge.left, merge.right, merge.result})
      if (!inside(id))
        return problem(file, place, where,
                       "found token id " + std::to_string(id) + ", " + range(spec));
    const std::string &left = spec.tokens[merge.left].bytes;
    const std::string &right = spec.tokens[merge.right].bytes;
    if (spec.tokens[merge.result].bytes != left + right)
      return problem(file, place, where,
                     "found the result '" + escaped(spec.tokens[merge.result].bytes, 60) +
                         "', expected its parts joined, '" + escaped(left + right, 60) + "'");
  }
  for (size_t i = 0; i < spec.addedTokens.size(); ++i) {
    const AddedToken &added = spec.addedTokens[i];
    const std::string where = "/added_tokens/" + std::to_string(i);
    if (!inside(added.id))
      return problem(file, place, where,
                     "found token id " + std::to_string(added.id) + ", " + range(spec));
    if (added.content.empty())
      return problem(file, place, where, "found an empty text, expected at least one byte");
  }
  int64_t byteLevelSteps = 0;
  for (const PreTokenizerStep &step : spec.preTokenizer)
    byteLevelSteps += step.kind == PreTokenizerStep::Kind::ByteLevel;
  if (spec.kind == TokenizerKind::ByteLevel && byteLevelSteps != 1)
    return problem(file, place, "/pre_tokenizer",
                   "found " + std::to_string(byteLevelSteps) +
                       " ByteLevel steps, expected one in a byte level tokenizer");
  if (spec.kind == TokenizerKind::Characters && byteLevelSteps != 0)
    return problem(file, place, "/pre_tokenizer",
                   "found a ByteLevel step, expected none in a tokenizer of characters");
  return {};
}

} // namespace llmc::model
