// SPDX-License-Identifier: Apache-2.0
// Real tokenizers against the `tokenizers` library: ids and decoded texts of every text of
// corpus.json, by the hashes that tools/goldens/make_tokenizers.py recorded. The tokenizers' files
// come from tools/dev/fetch.
#include "frontends/Open.h"
#include "frontends/json/Value.h"
#include "frontends/text/TokenizerJson.h"
#include "test/runtime/text/Support.h"

#include <algorithm>
#include <cinttypes>
#include <sstream>

namespace llmc::test {
namespace {

// 64-bit FNV-1a of the same bytes as make_tokenizers.py hashes, folded to 32 bits.
class Hash {
public:
  void ids(const Ids &ids) {
    number(static_cast<int32_t>(ids.size()));
    for (int32_t id : ids)
      number(id);
  }
  void text(const std::string &text) {
    number(static_cast<int32_t>(text.size()));
    bytes(text.data(), text.size());
  }
  std::string str() const {
    char text[16];
    snprintf(text, sizeof text, "%08" PRIx32, static_cast<uint32_t>(state ^ state >> 32));
    return text;
  }

private:
  void number(int32_t value) { bytes(reinterpret_cast<const char *>(&value), sizeof value); }
  void bytes(const char *data, size_t count) {
    for (size_t i = 0; i < count; ++i)
      state = (state ^ static_cast<unsigned char>(data[i])) * 0x100000001b3ull;
  }
  uint64_t state = 0xcbf29ce484222325ull;
};

void hashTexts(Hash &hash, const TestTokenizer &tokenizer, const Ids &ids) {
  hash.text(tokenizer.decode(ids, 0));
  hash.text(tokenizer.decode(ids, LLMC_DECODE_SKIP_SPECIAL));
}

std::string answer(const TestTokenizer &tokenizer, const std::string &text) {
  Hash hash;
  const Ids ids = tokenizer.encode(text);
  hash.ids(ids);
  hash.ids(tokenizer.encode(text, 0));
  hashTexts(hash, tokenizer, ids);
  return hash.str();
}

// The numbers of make_tokenizers.py: a linear congruential generator.
std::string randomDecoded(const TestTokenizer &tokenizer, int64_t vocabulary) {
  Hash hash;
  uint64_t state = 1;
  for (int sequence = 0; sequence < 200; ++sequence) {
    uint64_t numbers[25];
    for (uint64_t &number : numbers) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      number = state >> 33;
    }
    Ids ids;
    for (uint64_t i = 1; i < 2 + numbers[0] % 24; ++i)
      ids.push_back(static_cast<int32_t>(numbers[i] % static_cast<uint64_t>(vocabulary)));
    hashTexts(hash, tokenizer, ids);
  }
  return hash.str();
}

json::Value parsed(const std::string &path) {
  Result<json::Value> value = json::parseFile(path);
  EXPECT_TRUE(value) << (value ? "" : value.error().str());
  return value ? std::move(*value) : json::Value(json::Value::Kind::Object);
}

std::vector<std::string> words(const std::string &text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// $(tools/dev/fetch tokenizers)/NAME.json
Result<model::TokenizerSpec> readFetched(const std::string &folder, const std::string &name) {
  const std::string path = folder + "/" + name + ".json";
  Result<std::string> file = json::readTextFile(path, uint64_t(1) << 30);
  if (!file)
    return file.takeError();
  return tokenizers::parseTokenizerJson(*file, path);
}

void expectGolden(const model::TokenizerSpec &spec, const std::string &name) {
  const TestTokenizer tokenizer(spec);
  const json::Value golden = parsed(std::string(TOKENIZER_TESTS) + "/goldens/" + name + ".json");
  const json::Value corpus = parsed(std::string(TOKENIZER_TESTS) + "/corpus.json");
  const std::vector<std::string> expected = words(golden.find("texts")->text());
  ASSERT_EQ(corpus.size(), expected.size());
  ASSERT_GE(corpus.size(), 400u);
  for (size_t i = 0; i < corpus.size(); ++i) {
    const std::string &text = corpus[i].text();
    EXPECT_EQ(answer(tokenizer, text), expected[i])
        << name << ": text " << i << " '" << escaped(text) << "' gives "
        << ::testing::PrintToString(tokenizer.encode(text));
  }
  EXPECT_EQ(randomDecoded(tokenizer, golden.find("vocabulary")->integer),
            golden.find("random_decoded")->text());
}

class FetchedTokenizer : public ::testing::Test {
protected:
  void SetUp() override {
    folder = getenv("LLMC_TOKENIZERS");
    ASSERT_TRUE(folder) << "expected LLMC_TOKENIZERS=$(tools/dev/fetch tokenizers)";
  }
  const char *folder = nullptr;
};
class RealTokenizer : public FetchedTokenizer,
                      public ::testing::WithParamInterface<const char *> {};

TEST_P(RealTokenizer, GivesTheLibrarysIdsAndTexts) {
  Result<model::TokenizerSpec> spec = readFetched(folder, GetParam());
  ASSERT_TRUE(spec) << spec.error().str();
  expectGolden(*spec, GetParam());
}

// The road that users take: the GGUF file, whose pre-tokenizer is a name only.
TEST_F(FetchedTokenizer, SmolLM2FromItsGGUF) {
  Result<OpenedModel> opened =
      openModel(std::string(folder) + "/../smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
  ASSERT_TRUE(opened) << opened.error().str();
  ASSERT_TRUE(opened->tokenizer) << opened->tokenizer.error().str();
  ASSERT_TRUE(*opened->tokenizer);
  expectGolden(**opened->tokenizer, "smollm2");
}

// A checker that cannot fail proves nothing: what is left out must show.
TEST_F(FetchedTokenizer, PlantedFaultsAreSeen) {
  Result<model::TokenizerSpec> spec = readFetched(folder, "smollm2");
  ASSERT_TRUE(spec) << spec.error().str();
  const json::Value corpus = parsed(std::string(TOKENIZER_TESTS) + "/corpus.json");
  const std::vector<std::string> expected =
      words(parsed(std::string(TOKENIZER_TESTS) + "/goldens/smollm2.json").find("texts")->text());
  auto differing = [&](const model::TokenizerSpec &changed) {
    const TestTokenizer tokenizer(changed);
    size_t count = 0;
    for (size_t i = 0; i < corpus.size(); ++i)
      count += answer(tokenizer, corpus[i].text()) != expected[i];
    return count;
  };
  EXPECT_EQ(differing(*spec), 0u);
  model::TokenizerSpec changed = *spec;
  changed.preTokenizer.erase(changed.preTokenizer.begin()); // each digit alone
  EXPECT_GT(differing(changed), 10u);
  changed = *spec;
  std::reverse(changed.merges.begin() + 50, changed.merges.begin() + 500);
  EXPECT_GT(differing(changed), 0u);
  changed = *spec;
  changed.addedTokens.pop_back();
  EXPECT_EQ(changed.addedTokens.size() + 1, spec->addedTokens.size());
  changed.addedTokens.erase(changed.addedTokens.begin());
  EXPECT_GT(differing(changed), 0u);
}

INSTANTIATE_TEST_SUITE_P(Of, RealTokenizer,
                         ::testing::Values("smollm2", "claude", "p50k", "cl100k", "o200k", "llama3",
                                           "qwen", "tekken", "mistral1", "mistral3", "gemma_like"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace llmc::test
