// SPDX-License-Identifier: Apache-2.0
// Any bytes as a text, through tokenizers of both kinds. The ids of bytes decode to the text itself
// where nothing normalises and what is no UTF-8 was replaced.
#include "test/fuzz/TinyTokenizers.h"
#include "test/fuzz/UseTokenizer.h"

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string kinds[] = {fuzz::tinyTables(true), fuzz::tinyTables(false),
                                      fuzz::tinyTables(true, /*normalizes=*/false)};
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  for (const std::string &tables : kinds)
    fuzz::require(fuzz::useTokenizer(tables, text));

  static const Allocator allocator(nullptr);
  static text::Tokenizer *plain = [] {
    auto *tokenizer = new text::Tokenizer(allocator);
    fuzz::require(tokenizer->open(kinds[2].data(), kinds[2].size(), "plain", nullptr) == LLMC_OK);
    return tokenizer;
  }();
  text::Array<char> clean(allocator);
  text::appendWellFormed(clean, {text.data(), text.size()});
  uint64_t needed = 0;
  std::vector<int32_t> ids(3 * size + 8);
  fuzz::require(plain->encode({text.data(), text.size()}, 0, ids.data(), ids.size(), needed,
                              nullptr) == LLMC_OK);
  std::string decoded(clean.size() + 1, '\0');
  decoded.resize(plain->decode({ids.data(), needed}, 0, decoded.data(), decoded.size()));
  fuzz::require(decoded == std::string(clean.data() ? clean.data() : "", clean.size()));
  return 0;
}
