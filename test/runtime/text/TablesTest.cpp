// SPDX-License-Identifier: Apache-2.0
// Damaged tables: refused, or harmless; never a read outside them (these run under ASan too).
#include "test/runtime/text/Support.h"

#include <cstring>
#include <random>

namespace llmc::test {
namespace {

model::TokenizerSpec richTokenizer(bool bytes) {
  auto spec = bytes ? byteTokenizer({{"a", "b"}, {"ab", "c"}})
                    : characterTokenizer({{"a", "b"}, {"\xe2\x96\x81", "ab"}});
  if (bytes)
    spec.normalizer = {{model::NormalizerStep::Kind::NFKC, {}, ""},
                       {model::NormalizerStep::Kind::Replace, {"x+", true}, "y"}};
  const int32_t bos = addToken(spec, special("<s>"));
  model::AddedToken added;
  added.content = "ab<";
  added.normalized = added.lstrip = added.rstrip = added.singleWord = true;
  addToken(spec, added);
  spec.prefix = {bos};
  spec.suffix = {bos};
  spec.chatTemplates = {{"default", "{{ messages }}"}};
  return spec;
}

// Whatever the tables say now, using them must be safe.
void use(const text::Tokenizer &tokenizer) {
  const std::string text = "abc <s> ab< \xc3\xa9\xff xx  1234 \xf0\x9f\x98\x80 e\u0301";
  std::vector<int32_t> ids(4096);
  uint64_t needed = 0;
  if (tokenizer.encode({text.data(), text.size()}, 3, ids.data(), ids.size(), needed, nullptr))
    needed = 0;
  ids.resize(std::min<size_t>(needed, ids.size()));
  for (int32_t id = 0; id < 300; ++id)
    ids.push_back(id);
  std::vector<char> out(1 << 16);
  tokenizer.decode({ids.data(), ids.size()}, 0, out.data(), out.size());
}

// 0: refused as damaged.
bool opens(const std::string &block) {
  // Memory of its exact size, aligned, so that a sanitizer sees each read beyond it.
  void *memory = nullptr;
  if (posix_memalign(&memory, 64, block.size() ? block.size() : 1))
    return false;
  memcpy(memory, block.data(), block.size());
  bool fine = false;
  {
    Allocator allocator(nullptr);
    text::Tokenizer tokenizer(allocator);
    llmc_error error{};
    error.struct_size = sizeof error;
    const llmc_status status = tokenizer.open(memory, block.size(), "damaged.so", &error);
    fine = status == LLMC_OK;
    if (fine) {
      use(tokenizer);
    } else {
      EXPECT_TRUE(status == LLMC_BAD_ARTIFACT || status == LLMC_BAD_VERSION) << status;
      EXPECT_EQ(std::string(error.message).rfind("damaged.so: tokenizer", 0), 0u) << error.message;
      EXPECT_NE(std::string(error.message).find("expected"), std::string::npos) << error.message;
    }
  }
  free(memory);
  return fine;
}

TEST(TokenizerTables, CutShortAnywhereIsRefused) {
  for (bool bytes : {true, false}) {
    const std::string block = TestTokenizer(richTokenizer(bytes)).tables();
    ASSERT_TRUE(opens(block));
    for (size_t size = 0; size < block.size(); size += size < 1024 ? 1 : 97)
      EXPECT_FALSE(opens(block.substr(0, size))) << size;
  }
}

TEST(TokenizerTables, EveryWordOfTheHeaderMayBeAnything) {
  for (bool bytes : {true, false}) {
    const std::string block = TestTokenizer(richTokenizer(bytes)).tables();
    int refused = 0;
    for (size_t at = 0; at + 4 <= sizeof(llmc_tokenizer_header); at += 4)
      for (uint32_t value : {0u, 1u, 7u, 255u, 65536u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
        std::string damaged = block;
        memcpy(damaged.data() + at, &value, sizeof value);
        refused += !opens(damaged);
      }
    EXPECT_GT(refused, 400);
  }
}

TEST(TokenizerTables, AnyByteMayBeAnything) {
  std::mt19937 random(7);
  for (bool bytes : {true, false}) {
    const std::string block = TestTokenizer(richTokenizer(bytes)).tables();
    for (int i = 0; i < 4000; ++i) {
      std::string damaged = block;
      for (uint32_t n = 1 + random() % 3; n; --n)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      opens(damaged);
    }
  }
}

TEST(TokenizerTables, TheSameSpecGivesTheSameBytes) {
  EXPECT_EQ(TestTokenizer(richTokenizer(true)).tables(),
            TestTokenizer(richTokenizer(true)).tables());
}

} // namespace
} // namespace llmc::test
