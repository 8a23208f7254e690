// SPDX-License-Identifier: Apache-2.0
// Tokenizers for tests: made from a spec or from the text of a tokenizer.json, by the compiler's
// own tables and without a model around them.
#pragma once

#include "dialects/model/TokenizerSpec.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/Tokenizer.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace llmc::test {

using Ids = std::vector<int32_t>;

class TestTokenizer {
public:
  // Fails the test, and is empty, when the tables cannot be made.
  explicit TestTokenizer(const model::TokenizerSpec &spec);

  Ids encode(std::string_view text,
             uint32_t flags = LLMC_ENCODE_ADD_SPECIAL | LLMC_ENCODE_PARSE_SPECIAL) const;
  // LLMC_OK or why not, with the line.
  llmc_status tryEncode(std::string_view text, std::string &line) const;
  std::string decode(const Ids &ids, uint32_t flags = 0) const;
  // Token by token.
  std::string stream(const Ids &ids, uint32_t flags = 0) const;
  const text::Tokenizer &get() const { return *tokenizer; }
  const std::string &tables() const { return block; }

private:
  std::string block;
  std::shared_ptr<Allocator> allocator = std::make_shared<Allocator>(nullptr);
  std::unique_ptr<text::Tokenizer> tokenizer;
};

// All bytes as ids 0 to 255, and the merges given, each "left right" of bytes; results follow from
// 256 on. GPT-2's pattern.
model::TokenizerSpec byteTokenizer(const std::vector<std::pair<std::string, std::string>> &merges);
// <unk>, all <0xNN>, the mark, a to z, and the merges given, in SentencePiece's usual steps.
model::TokenizerSpec
characterTokenizer(const std::vector<std::pair<std::string, std::string>> &merges);
// Appends a token that is added only; its id.
int32_t addToken(model::TokenizerSpec &spec, model::AddedToken token);
model::AddedToken special(const std::string &content);
// The id of a token by its bytes.
int32_t idOf(const model::TokenizerSpec &spec, const std::string &bytes);

} // namespace llmc::test
