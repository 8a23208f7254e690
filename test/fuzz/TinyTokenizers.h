// SPDX-License-Identifier: Apache-2.0
// Tables of small tokenizers with something of everything, to start from.
#pragma once

#include "Checks.h"
#include "passes/codegen/tokenizer/TokenizerTables.h"

namespace llmc::fuzz {

inline void addPiece(model::TokenizerSpec &spec, const std::string &bytes) {
  model::Token token;
  token.bytes = bytes;
  spec.tokens.push_back(token);
}

inline void addTiny(model::TokenizerSpec &spec, const char *content, bool special) {
  model::AddedToken token;
  token.id = static_cast<int32_t>(spec.tokens.size());
  token.content = content;
  token.special = special;
  token.lstrip = token.rstrip = token.normalized = token.singleWord = !special;
  addPiece(spec, content);
  spec.tokens.back().inModel = false;
  spec.addedTokens.push_back(token);
}

// All bytes, or <unk>, bytes to fall back on and a few letters; two merges; added tokens.
inline std::string tinyTables(bool ofBytes, bool normalizes = true) {
  model::TokenizerSpec spec;
  const std::string mark = "\xe2\x96\x81";
  if (!ofBytes)
    addPiece(spec, "<unk>");
  for (unsigned byte = 0; byte < 256; ++byte) {
    char text[8];
    snprintf(text, sizeof text, "<0x%02X>", byte);
    addPiece(spec, ofBytes ? std::string(1, static_cast<char>(byte)) : text);
  }
  if (!ofBytes)
    for (const std::string &piece : {mark, std::string("a"), std::string("b")})
      addPiece(spec, piece);
  const int32_t left = ofBytes ? 'a' : 258;
  const int32_t right = ofBytes ? 'b' : 259;
  addPiece(spec, "ab");
  const auto pair = static_cast<int32_t>(spec.tokens.size()) - 1;
  addPiece(spec, "abab");
  spec.merges = {{left, right, pair}, {pair, pair, pair + 1}};
  if (ofBytes) {
    model::applyNamedPreTokenizer("llama-bpe", spec);
    model::applyByteLevelDecoder(spec);
    if (normalizes)
      spec.normalizer = {{model::NormalizerStep::Kind::NFKC, {}, ""}};
  } else {
    model::applySentencePieceSteps(spec, true);
    spec.unkId = 0;
  }
  if (normalizes) {
    addTiny(spec, "<s>", true);
    addTiny(spec, "<l>", false);
  }
  Result<std::string> tables = tokenizer::buildTables(spec, "tiny");
  require(tables.ok());
  return std::move(*tables);
}

} // namespace llmc::fuzz
