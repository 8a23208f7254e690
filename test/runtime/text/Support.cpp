// SPDX-License-Identifier: Apache-2.0
#include "test/runtime/text/Support.h"
#include "passes/codegen/tokenizer/TokenizerTables.h"

namespace llmc::test {

TestTokenizer::TestTokenizer(const model::TokenizerSpec &spec) {
  Result<std::string> made = tokenizer::buildTables(spec, "test");
  if (!made) {
    ADD_FAILURE() << made.error().str();
    return;
  }
  block = std::move(*made);
  tokenizer = std::make_unique<text::Tokenizer>(*allocator);
  llmc_error error{};
  error.struct_size = sizeof error;
  if (tokenizer->open(block.data(), block.size(), "test", &error))
    ADD_FAILURE() << error.message;
}

Ids TestTokenizer::encode(std::string_view text, uint32_t flags) const {
  uint64_t needed = 0;
  llmc_error error{};
  error.struct_size = sizeof error;
  // Once to count, once to write: both must agree.
  EXPECT_EQ(tokenizer->encode({text.data(), text.size()}, flags, nullptr, 0, needed, &error),
            LLMC_OK)
      << error.message;
  Ids ids(needed);
  uint64_t again = 0;
  EXPECT_EQ(
      tokenizer->encode({text.data(), text.size()}, flags, ids.data(), ids.size(), again, &error),
      LLMC_OK);
  EXPECT_EQ(needed, again);
  return ids;
}

llmc_status TestTokenizer::tryEncode(std::string_view text, std::string &line) const {
  uint64_t needed = 0;
  llmc_error error{};
  error.struct_size = sizeof error;
  const llmc_status status =
      tokenizer->encode({text.data(), text.size()}, 0, nullptr, 0, needed, &error);
  line = error.message;
  return status;
}

std::string TestTokenizer::decode(const Ids &ids, uint32_t flags) const {
  std::string text(tokenizer->decode({ids.data(), ids.size()}, flags, nullptr, 0), '\0');
  EXPECT_EQ(tokenizer->decode({ids.data(), ids.size()}, flags, text.data(), text.size()),
            text.size());
  return text;
}

std::string TestTokenizer::stream(const Ids &ids, uint32_t flags) const {
  text::Decoder decoder(tokenizer->tables(), flags);
  std::vector<char> room(text::Decoder::mostBytes(tokenizer->tables()));
  std::string all;
  auto take = [&](auto &&step) {
    text::Output out(room.data(), room.size());
    step(out);
    ASSERT_LE(out.size(), room.size());
    all.append(room.data(), out.size());
  };
  for (int32_t id : ids)
    take([&](text::Output &out) { decoder.add(static_cast<uint32_t>(id), out); });
  take([&](text::Output &out) { decoder.finish(out); });
  return all;
}

namespace {

void addPiece(model::TokenizerSpec &spec, const std::string &bytes,
              model::TokenType type = model::TokenType::Normal) {
  model::Token token;
  token.bytes = bytes;
  token.type = type;
  spec.tokens.push_back(token);
}

void addMerges(model::TokenizerSpec &spec,
               const std::vector<std::pair<std::string, std::string>> &merges) {
  for (const auto &[left, right] : merges) {
    if (idOf(spec, left + right) < 0)
      addPiece(spec, left + right);
    spec.merges.push_back({idOf(spec, left), idOf(spec, right), idOf(spec, left + right)});
  }
}

} // namespace

int32_t idOf(const model::TokenizerSpec &spec, const std::string &bytes) {
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (spec.tokens[id].bytes == bytes)
      return static_cast<int32_t>(id);
  return -1;
}

model::TokenizerSpec byteTokenizer(const std::vector<std::pair<std::string, std::string>> &merges) {
  model::TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte)
    addPiece(spec, std::string(1, static_cast<char>(byte)));
  addMerges(spec, merges);
  model::applyNamedPreTokenizer("gpt-2", spec);
  model::applyByteLevelDecoder(spec);
  return spec;
}

model::TokenizerSpec
characterTokenizer(const std::vector<std::pair<std::string, std::string>> &merges) {
  model::TokenizerSpec spec;
  addPiece(spec, "<unk>", model::TokenType::Unknown);
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte));
    addPiece(spec, text, model::TokenType::Byte);
  }
  addPiece(spec, "\xe2\x96\x81");
  for (char letter = 'a'; letter <= 'z'; ++letter)
    addPiece(spec, std::string(1, letter));
  model::applySentencePieceSteps(spec, true);
  spec.unkId = 0;
  addMerges(spec, merges);
  return spec;
}

int32_t addToken(model::TokenizerSpec &spec, model::AddedToken token) {
  token.id = idOf(spec, token.content);
  if (token.id < 0) {
    token.id = static_cast<int32_t>(spec.tokens.size());
    addPiece(spec, token.content, model::TokenType::UserDefined);
    spec.tokens.back().inModel = false;
  }
  spec.addedTokens.push_back(token);
  return token.id;
}

model::AddedToken special(const std::string &content) {
  model::AddedToken token;
  token.content = content;
  token.special = true;
  return token;
}

} // namespace llmc::test
